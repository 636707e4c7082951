"""Where runs are kept: one contract (`store.contract`), opened by `store.opening.open_store`."""
