"""Small studies, one file each; each writes its page or its picture."""
