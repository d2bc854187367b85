"""What a database of logs says: the tables of the Cray XE6 paper, rankings, trends, outliers."""
