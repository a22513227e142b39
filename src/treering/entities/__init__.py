"""Who and what records speak of: noticed in texts, linked with records, merged under one name, told about."""
