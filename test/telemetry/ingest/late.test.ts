import {expect, test} from 'vitest'
import {attribute, ingestHouse, ns, request, span, spanId} from './house.ts'

const HOUR_MS = 3_600_000

/** When spans ended that come now: they wait at an exporter, a collector, or a device without a network. */
const AGES_MS = [0, 50_000, 70_000, 10 * 60_000, HOUR_MS, 25 * HOUR_MS, 29 * 24 * HOUR_MS]

test('a span has its content however late it comes, and however long it took', async () => {
  const {gateway, post, rows} = await ingestHouse({LOG_RETENTION_DAYS: '30', LOG_BODY_RETENTION_DAYS: '30'})
  const spans = AGES_MS.flatMap(age =>
    [1, HOUR_MS / 2].map(took =>
      span({
        spanId: spanId(),
        name: `ended ${age} ago, took ${took}`,
        startTimeUnixNano: ns(age + took),
        endTimeUnixNano: ns(age),
        attributes: [attribute('kept', `${age} ${took}`)],
      }),
    ),
  )
  expect(await (await post(JSON.stringify(request(spans)))).json()).toEqual({})
  const found = await rows()
  expect(found).toHaveLength(spans.length)
  for (const {id, span_name} of found) {
    const {request: kept} = await gateway.admin<{request: {body?: {attributes: {kept: string}}}}>('GET', `/logs/${id}`)
    const [, age, took] = /^ended (\d+) ago, took (\d+)$/.exec(String(span_name))!
    expect([span_name, kept.body?.attributes.kept]).toEqual([span_name, `${age} ${took}`])
  }
}, 60_000)

test('a call that was made elsewhere has its bodies, however long it took', async () => {
  const {gateway} = await ingestHouse()
  const one = (response_time: number) => ({
    request: {url: 'https://api.example.com/v1/chat/completions', body: {model: 'm', took: response_time}},
    response: {body: {ok: true}, response_time},
  })
  const times = [0, 1_000, 5_000, 90_000, 80_000_000]
  const reply = await gateway.call('/v1/logs', {
    method: 'POST',
    body: JSON.stringify(times.map(one)),
    headers: {'content-type': 'application/json'},
  })
  expect(reply.status).toBe(200)
  const found = await gateway.logs()
  expect(found).toHaveLength(times.length)
  for (const {id, response_time} of found) {
    const {request: kept} = await gateway.admin<{request: {body?: {took: number}}}>('GET', `/logs/${id}`)
    expect(kept.body?.took).toBe(response_time)
  }
}, 60_000)
