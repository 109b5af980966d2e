-- For wrk: POSTs the body in the file named after "--", again and again, and ends with one line of JSON, times in microseconds.
function init(words)
  local file = assert(io.open(words[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  wrk.headers["content-type"] = "application/json"
  file:close()
end

function done(all, latency)
  local errors = all.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('\n{"answers":%d,"took_us":%d,"p50_us":%d,"p99_us":%d,"p999_us":%d,"failed":%d}\n',
    all.requests, all.duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9), failed))
end
