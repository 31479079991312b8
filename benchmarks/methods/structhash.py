"""StructHash, this package's."""

SPECS = ["structhash:ranking=auc", "structhash:ranking=ndcg", "structhash", "structhash:family=rbf"]
SOURCE = "Lin et al. 2017"
ORIGINAL = None
SETTINGS = "defaults; SNDCG where no ranking is named"
