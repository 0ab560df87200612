"""How the nli judge was trained: from public pairs to the weights. No part of the package."""
