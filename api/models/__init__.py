"""What the answers hold, for OpenAPI and its readers. Answers are written without a detour through these models; a test
holds real ones against them.
"""
