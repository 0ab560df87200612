"""Access: who may do what with a tenant's evidence packs."""
