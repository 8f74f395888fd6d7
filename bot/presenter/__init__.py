"""Events → posts, in an order that reads well (pure), and the sink that queues them."""
