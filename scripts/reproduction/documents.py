def main(*_):
    return 0
