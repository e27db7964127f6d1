# must: FS_WRITE_ROOTS
import cProfile

cProfile.Profile().dump_stats("out/x.prof")
