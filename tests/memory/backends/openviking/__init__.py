"""The backend openviking, without a network.

wire          answers and a server that the tests write themselves
asked         each call with a good answer
answers.json  what openviking 0.5.2 answered to the requests of this product, recorded
"""
