# coding: rot13
vzcbeg fhocebprff
