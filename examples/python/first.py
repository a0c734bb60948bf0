import hairspring

result = hairspring.time("sorted(data)", setup="data = [3, 1, 2] * 30")
print(result)
print(result.body.time_ns)
