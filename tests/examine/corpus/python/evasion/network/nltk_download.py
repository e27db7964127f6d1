# must: NET_ACCESS
import nltk

nltk.download("punkt")
