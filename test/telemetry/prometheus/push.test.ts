import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {readSettings} from '../../../src/settings/index.ts'
import {groupPart, pushGatewaySettings} from '../../../src/settings/prometheus.ts'
import type {SendOutcome} from '../../../src/telemetry/export/outcome.ts'
import {PushGateway} from '../../../src/telemetry/push-gateway/push-gateway.ts'
import {faults, read} from '../../settings/support.ts'
import {startGateway} from '../../support/gateway.ts'
import {NO_PROMETHEUS, openPushgateway, type RunningProgram} from './programs.ts'

const TAKEN: SendOutcome = {kind: 'taken', rejected: 0, reason: null}

/** A push gateway by a hand clock: `tick` lets the next push begin, and resolves when it has ended. */
function pushes(
  put: (body: Buffer, signal: AbortSignal) => Promise<SendOutcome>,
  page: (count: number) => Promise<Buffer> = async count => Buffer.from(`page ${count}\n`),
) {
  let due: (() => void) | undefined
  const reports: (string | null)[] = []
  const removed: number[] = []
  const ends: boolean[] = []
  const counts = {pushed: 0, failed: 0}
  const push = new PushGateway({
    page: () => page(counts.pushed + counts.failed),
    put,
    remove: async (_, signal) => {
      removed.push(counts.pushed)
      ends.push(signal.aborted)
      return TAKEN
    },
    after: (ms, run) => {
      expect(ms).toBe(30_000)
      due = run
      return () => {
        due = undefined
      }
    },
    counts,
    report: reason => void reports.push(reason),
  })
  const tick = async () => {
    const run = due
    due = undefined
    run?.()
    await new Promise(resolve => setImmediate(resolve))
    await new Promise(resolve => setImmediate(resolve))
  }
  return {push, tick, reports, removed, ends, counts, isDue: () => due !== undefined}
}

test('a failure is reported once, and so is its end; no push begins while another is made', async () => {
  const answers: SendOutcome[] = [
    ...[
      TAKEN,
      {kind: 'later', after_ms: null, reason: 'status 503'},
      {kind: 'later', after_ms: null, reason: 'status 503'},
    ],
    ...[{kind: 'refused', reason: 'status 400'}, TAKEN],
  ] as SendOutcome[]
  let open: (() => void) | undefined
  const {push, tick, reports, counts, isDue} = pushes(async () => {
    await new Promise<void>(resolve => {
      open = resolve
    })
    return answers.shift() ?? TAKEN
  })
  for (let at = 0; at < 5; at++) {
    await tick()
    expect(isDue()).toBe(false)
    open!()
    await tick()
  }
  expect(reports).toEqual(['status 503', 'status 400', null])
  expect(counts).toEqual({pushed: 2, failed: 3})
  const closed = push.close()
  await tick()
  open!()
  await closed
})

test('the end cuts a push that hangs, pushes once more, and removes the group', async () => {
  const signals: AbortSignal[] = []
  const {push, tick, removed, counts, isDue} = pushes(async (_, signal) => {
    signals.push(signal)
    if (signals.length === 1) await new Promise(resolve => signal.addEventListener('abort', resolve, {once: true}))
    return signals.length === 1 ? {kind: 'later', after_ms: null, reason: 'no answer'} : TAKEN
  })
  await tick()
  await push.close()
  expect([signals[0]!.aborted, signals.length, removed, counts, isDue()]).toEqual([
    ...[true, 2, [1], {pushed: 1, failed: 0}, false],
  ])
})

test('a page that cannot be made is a failed push: the next one is made, and the end removes the group', async () => {
  const {push, tick, reports, removed, counts, isDue} = pushes(
    async () => TAKEN,
    async count => {
      if (count !== 1) throw new Error('the database is locked')
      return Buffer.from('page')
    },
  )
  await tick()
  expect([counts, isDue()]).toEqual([{pushed: 0, failed: 1}, true])
  await tick()
  await tick()
  const reason = 'the page could not be made: the database is locked'
  expect([counts, reports]).toEqual([{pushed: 1, failed: 2}, [reason, null, reason]])
  await push.close()
  expect([counts, removed]).toEqual([{pushed: 1, failed: 3}, [1]])
})

test('a last push that hangs leaves the removal its time, and both end within a second', async () => {
  const hangs = (signal: AbortSignal) =>
    new Promise<SendOutcome>(resolve => {
      const later = {kind: 'later', after_ms: null, reason: 'no answer in time'} as const
      signal.addEventListener('abort', () => resolve(later), {once: true})
    })
  const {push, removed, ends} = pushes((_, signal) => hangs(signal))
  const started = performance.now()
  await push.close()
  expect([removed, ends]).toEqual([[0], [false]])
  expect(performance.now() - started).toBeLessThan(1_500)
  // nor does a page that never comes hold up the end
  const other = pushes(
    async () => TAKEN,
    () => new Promise(() => undefined),
  )
  await other.push.close()
  expect([other.removed, other.ends, other.reports]).toEqual([
    ...[[0], [false], ['the page could not be made: it took too long']],
  ])
})

describe('settings', () => {
  test.each([
    ['', 'env@base64/='],
    ['a b', 'env/a%20b'],
    ['a/b', 'env@base64/YS9i'],
    // a URL would drop these segments, and the group would be another one
    ['.', 'env@base64/Lg'],
    ['..', 'env@base64/Li4'],
    ['...', 'env/...'],
    ['%2e%2e', 'env/%252e%252e'],
    ['a?b#c', 'env/a%3Fb%23c'],
    ['é\\', 'env/%C3%A9%5C'],
  ])('the environment %j is in the path of the group, whole', (value, path) => {
    const env = {
      ...{PROMETHEUS_PUSH_ENABLED: 'true', PROMETHEUS_GATEWAY_URL: 'http://push.example.com:9091'},
      SERVICE_NAME: 'edge',
    }
    const {settings} = readSettings({env})
    expect(pushGatewaySettings({...settings, node_env: value}, 'host')!.url).toBe(
      `http://push.example.com:9091/metrics/job/aggregator/service_uid/host/service/edge/${path}`,
    )
  })

  test('the group names job, instance, service and environment; empty ones and slashes are base64', () => {
    const env = {
      ...{PROMETHEUS_PUSH_ENABLED: 'true', PROMETHEUS_GATEWAY_URL: 'http://push.example.com:9091/below/'},
      ...{PROMETHEUS_GATEWAY_AUTH: 'dXNlcjpodXNo', SERVICE_NAME: 'edge'},
    }
    expect(pushGatewaySettings(read({env}).settings ?? read({env}), 'host/1')).toEqual({
      url: 'http://push.example.com:9091/below/metrics/job/aggregator/service_uid@base64/aG9zdC8x/service/edge/env@base64/=',
      headers: {authorization: 'Basic dXNlcjpodXNo'},
    })
    expect(groupPart('env', 'a b')).toEqual(['env', 'a%20b'])
  })

  test.each([
    [{PROMETHEUS_PUSH_ENABLED: 'true'}, 'PROMETHEUS_PUSH_ENABLED=true needs PROMETHEUS_GATEWAY_URL: the address of'],
    [
      {PROMETHEUS_HISTOGRAM_BUCKETS: '10,5'},
      'PROMETHEUS_HISTOGRAM_BUCKETS is "10,5"; the entry "5" is not above the one before.',
    ],
    [{PROMETHEUS_HTTP_DURATION_BUCKETS: '1,NaN'}, 'the entry "NaN" is no number above 0'],
    [{PROMETHEUS_GC_BUCKETS: '0'}, 'the entry "0" is no number above 0'],
    [{PROMETHEUS_HISTOGRAM_BUCKETS: Array.from({length: 61}, (_, at) => at + 1).join()}, 'at most 60 numbers'],
    [{PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: 'a-b,a.b'}, '"a-b" and "a.b" would both be metadata_a_b'],
    [{PROMETHEUS_EXTRA_LABELS: 'model'}, 'apiKeyName, configName, source, payloadSizeRange, app and env'],
  ])('TL25: %o is refused at the start', (env, sentence) => {
    expect(faults({env: env as Record<string, string>}).join('\n')).toContain(sentence)
  })
})

describe.skipIf(NO_PROMETHEUS)('a real push gateway', () => {
  let pushgateway: RunningProgram
  beforeAll(async () => {
    pushgateway = await openPushgateway()
  })
  afterAll(() => pushgateway.close())

  test('TL27: it holds the group, with every label on; the group is gone after the end', async () => {
    const held: string[] = []
    // what it has at the moment of the removal is read on the way
    const between = createServer(async (request, response) => {
      const body: Buffer[] = []
      for await (const part of request) body.push(part as Buffer)
      if (request.method === 'DELETE') held.push(await (await fetch(`${pushgateway.url}/metrics`)).text())
      const {host: _, 'content-length': __, connection: ___, 'transfer-encoding': ____, ...headers} = request.headers
      const answer = await fetch(`${pushgateway.url}${request.url}`, {
        method: request.method!,
        headers: headers as Record<string, string>,
        ...(request.method !== 'DELETE' && {body: Buffer.concat(body)}),
      })
      response.writeHead(answer.status).end(await answer.text())
    })
    await new Promise<void>(resolve => between.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void between.close())
    const gateway = await startGateway({
      PROMETHEUS_PUSH_ENABLED: 'true',
      PROMETHEUS_GATEWAY_URL: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
      PROMETHEUS_INCLUDE_METADATA_LABELS: 'true',
      PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: 'team',
    })
    await (await gateway.chat({model: 'echo', messages: []}, {'x-gateway-metadata': '{"team":"blue"}'})).text()
    await gateway.app.flushed()
    await gateway.close()
    expect(held).toHaveLength(1)
    expect(held[0]).toMatch(/^request_count\{.*env="".*job="aggregator".*metadata_team="blue".*service_uid="[^"]+"/m)
    expect(await (await fetch(`${pushgateway.url}/metrics`)).text()).not.toContain('job="aggregator"')
    expect(gateway.lines.join('')).not.toContain('could not be pushed')
  }, 60_000)
})
