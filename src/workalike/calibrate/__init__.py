"""The file-size model of a backend: Eq. 1 of the workload-replication paper, fitted, inverted and in closed form."""
