import {mkdtempSync, rmSync} from 'node:fs'
import type {ServerResponse} from 'node:http'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {evaluated} from '../../cli/cache-evaluation.ts'
import {BUILTIN_DIMENSIONS} from '../../src/cache/semantic/builtin-embedder.ts'
import {unitVector, vectorBytes} from '../../src/cache/semantic/vector.ts'
import type {LoggedQuestion} from '../../src/schema/cache-evaluation.ts'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'
import {API_KEY, openTwin, PRODUCTS} from '../support/vector-stores/open.ts'
import {run} from './support.ts'

describe('an evaluation', () => {
  const NOW_MS = Date.parse('2026-03-04T05:00:00.000Z')
  const FEATURES = {v: 1, classes: {}, words: '', fillers: ''}
  const digest = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64)
  /** A question at an angle in degrees, so many minutes after the first. */
  const question = (
    name: string,
    degrees: number,
    minutes: number,
    more: Partial<LoggedQuestion> = {},
  ): LoggedQuestion => {
    const radians = (degrees * Math.PI) / 180
    return {
      ...{log_id: name, created_at: new Date(NOW_MS + minutes * 60_000).toISOString(), partition: digest('p')},
      ...{digest: digest(name), features: FEATURES, is_relative: false, cost_usd: 0.01},
      vector: vectorBytes(unitVector([Math.cos(radians), Math.sin(radians)])!).toString('base64'),
      answer: {text: digest('same'), json: null},
      ...more,
    }
  }
  const options = {gate: 'off' as const, max_age_ms: 3_600_000, onStep: () => undefined}
  const hitsOf = async (questions: LoggedQuestion[], threshold: number, more: Partial<typeof options> = {}) => {
    const [run] = await evaluated(questions, {...options, ...more, thresholds: [threshold]})
    return run!.hits.map(({stored_log_id, log_id}) => `${log_id} by ${stored_log_id}`)
  }

  test('answers a call with the nearest earlier one at or above the threshold', async () => {
    const three = [question('a', 0, 0), question('b', 30, 1), question('c', 12, 2)]
    expect(await hitsOf(three, 0.95)).toEqual(['c by a'])
    expect(await hitsOf(three.toReversed(), 0.8)).toEqual(['b by a', 'c by a'])
    expect(await hitsOf(three, 0.99)).toEqual([])
  })

  test('stores nothing for a hit: likeness does not drift from call to call', async () => {
    // each is 20 degrees from the one before, and 40 from the one before that
    expect(await hitsOf([question('a', 0, 0), question('b', 20, 1), question('c', 40, 2)], 0.9)).toEqual(['b by a'])
  })

  test('knows exact repeats, partitions, ends of answers, and answers that were not whole', async () => {
    const [run] = await evaluated([question('a', 0, 0), {...question('b', 0, 1), digest: digest('a')}], {
      ...options,
      thresholds: [0.9],
    })
    expect(run!.sums).toMatchObject({exact_hits: 1, searched: 1, hits: 0})
    expect(await hitsOf([question('a', 0, 0), question('b', 0, 1, {partition: digest('q')})], 0.9)).toEqual([])
    expect(await hitsOf([question('a', 0, 0), question('b', 0, 60)], 0.9)).toEqual([])
    expect(await hitsOf([question('a', 0, 0, {is_relative: true}), question('b', 0, 16)], 0.9)).toEqual([])
    expect(await hitsOf([question('a', 0, 0), question('b', 0, 16, {is_relative: true})], 0.9)).toEqual([])
    expect(await hitsOf([question('a', 0, 0, {answer: null}), question('b', 0, 1)], 0.9)).toEqual([])
  })

  test('has the gate between', async () => {
    const other = {features: {...FEATURES, classes: {numbers: 'x'}}}
    const two = [question('a', 0, 0), question('b', 0, 1, other)]
    expect([await hitsOf(two, 0.9), await hitsOf(two, 0.9, {gate: 'strict' as never})]).toEqual([['b by a'], []])
  })

  test('counts equal answers, the bound and the cost that is saved, under every threshold', async () => {
    const questions = [
      question('a', 0, 0),
      question('b', 5, 1),
      question('c', 6, 2, {answer: {text: digest('other'), json: digest('j')}}),
      question('d', 60, 3),
    ]
    const runs = await evaluated(questions, {...options, thresholds: [0.99, 0.4]})
    expect(runs.map(({sums}) => sums)).toEqual([
      {
        ...{threshold: 0.4, searched: 4, exact_hits: 0, hits: 3, hit_share: 0.75, equal: 2, unknown: 1},
        ...{wrong_at_most: expect.closeTo(0.8647, 3), saved_usd: expect.closeTo(0.03, 6)},
      },
      {
        ...{threshold: 0.99, searched: 4, exact_hits: 0, hits: 2, hit_share: 0.5, equal: 1, unknown: 1},
        ...{wrong_at_most: expect.closeTo(0.9747, 3), saved_usd: expect.closeTo(0.02, 6)},
      },
    ])
  })
})

describe('on a gateway', () => {
  let provider: FakeProvider
  let gateway: TestGateway
  /** The answer that the provider gives next. */
  let text = 'Paris.'
  beforeAll(async () => {
    provider = await fakeProvider((_, response: ServerResponse) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(chatReply('gpt-4o-mini', text))),
    )
    gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
    await gateway.provider('mock', 'openai', provider.url)
  })
  afterAll(async () => {
    await gateway.close()
    await provider.close()
  })

  const there = (...argv: string[]) =>
    run(argv, {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY}, now_ms: Date.now() + 1_000})
  const json = async (...argv: string[]) => {
    const {code, stdout, stderr} = await there(...argv, '--json')
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    return JSON.parse(stdout)
  }
  const ask = async (content: string, config: object, more: object = {}) => {
    const messages = [{role: 'user', content}]
    const headers = {'x-gateway-config': JSON.stringify({provider: '@mock', ...config})}
    const reply = await gateway.chat({model: 'gpt-4o-mini', messages, ...more}, headers)
    expect(reply.status, await reply.text()).toBe(200)
    await gateway.app.flushed()
  }
  const semantic = {cache: {mode: 'semantic', max_age: 3600}}

  test('SC23: eval on a log with known pairs prints the known counts', async () => {
    const asked: [content: string, answer: string, more?: object][] = [
      ['What is the capital of France?', 'Paris.'],
      ['what is the capital of france?', ' PARIS. '],
      ['What is the capital of France, please?', 'The capital is Paris.'],
      ['What is the capital of Norway?', 'Oslo.'],
      ['What is the capital of France?', 'Paris.'],
      ['WHAT is the capital of France?', 'Paris.', {temperature: 0.5}],
      ['Convert 5 km to miles', '3.1'],
      ['Convert 6 km to miles', '3.7'],
    ]
    for (const [content, answer, more] of asked) {
      text = answer
      await ask(content, {}, more)
    }
    const called = provider.received.length
    const whole = await json('cache', 'eval', '--since', '1h', '--threshold', '0.8', '0.999')
    expect(whole).toMatchObject({
      ...{object: 'cache_evaluation', embedder: 'builtin/1', gate: 'strict', own_threshold: 0.8},
      ...{calls: 8, compared: 8, left_out: 0, without_body: 0, not_embedded: 0},
      embeddings: {requests: 0, cost_usd: 0},
    })
    // the repeat is exact, another temperature is another partition, the numbers and the country part by the gate
    const counts = {searched: 7, exact_hits: 1, hits: 2, equal: 1, unknown: 1}
    expect(whole.thresholds[0]).toMatchObject({threshold: 0.8, ...counts})
    expect(whole.thresholds[1]).toMatchObject({threshold: 0.999, hits: 1, equal: 1, unknown: 0, wrong_at_most: 1})
    expect(whole.worst).toMatchObject([{agreement: 'unknown'}])
    expect(JSON.stringify(whole)).not.toMatch(/capital|Paris/)
    const off = await json('cache', 'eval', '--since', '1h', '--threshold', '0.8', '--gate', 'off')
    expect(off.thresholds[0].hits).toBeGreaterThan(2)
    expect(provider.received.length).toBe(called)
    const shown = await there('cache', 'eval', '--since', '1h')
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(/THRESHOLD +WOULD HIT +OF SEARCHED/)
    expect(shown.stdout).toMatch(/^0\.80 +28\.6 % +█/m)
    expect(shown.stderr).toContain('8 of 8 calls were compared by builtin/1 and the gate strict.')
  })

  test('eval refuses what is no gate, no cosine and no time', async () => {
    expect((await there('cache', 'eval', '--gate', 'loose')).code).toBe(2)
    expect((await there('cache', 'eval', '--threshold', '1.5')).code).toBe(2)
    expect((await there('cache', 'eval', '--max-age', 'long')).code).toBe(2)
  })

  test('pairs tries the gate on prompts of the log, with a bound, the same for a seed', async () => {
    const whole = await json('cache', 'pairs', '--from-logs', '100', '--since', '1h')
    expect(whole).toMatchObject({object: 'cache_pairs', gate: 'strict', prompts: 7, must_miss: {served: 0}})
    expect(whole.must_miss.served_at_most).toBeCloseTo(3 / whole.must_miss.pairs, 6)
    expect(whole.must_miss.pairs).toBeGreaterThan(70)
    expect(whole.must_hit.pairs).toBeGreaterThan(10)
    expect(await json('cache', 'pairs', '--from-logs', '100', '--since', '1h')).toEqual(whole)
    const shown = await there('cache', 'pairs', '--since', '1h')
    expect(shown.stderr).toMatch(/0 of \d+ pairs with other answers would be served by the gate strict: fewer than/)
  })

  test('show and clear, by what narrows them', async () => {
    text = 'Kept.'
    await ask('Who wrote Faust?', semantic)
    await ask('Who wrote Hamlet?', semantic, {model: 'gpt-4o'})
    const kinds = async (...more: string[]) => {
      const {data} = (await json('cache', 'show', ...more)) as {data: {kind: string; model: string}[]}
      return data.map(({kind, model}) => `${kind} ${model}`)
    }
    await expect
      .poll(() => kinds())
      .toEqual(['simple gpt-4o', 'simple gpt-4o-mini', 'semantic gpt-4o', 'semantic gpt-4o-mini'])
    expect(await kinds('--kind', 'semantic', '--model', 'gpt-4o')).toEqual(['semantic gpt-4o'])
    const table = await there('cache', 'show')
    expect(table.stdout).toMatch(/KIND +MODEL/)
    expect(await there('cache', 'clear')).toMatchObject({code: 2, stderr: expect.stringContaining('--all')})
    const one = await there('cache', 'clear', '--model', 'gpt-4o', '--yes')
    expect(one).toMatchObject({code: 0, stdout: 'Cleared 2 entries: 1 simple, 1 semantic.\n'})
    expect(await json('cache', 'clear', '--all')).toEqual({object: 'cache_cleared', simple: 1, semantic: 1})
    expect(await kinds()).toEqual([])
  })

  describe('with a judge', () => {
    const caller = {env: {GATEWAY_URL: '', GATEWAY_API_KEY: WORKSPACE_KEY}}
    const judged = (...argv: string[]) =>
      run(['cache', 'eval', '--since', '1h', ...argv], {
        ...{env: {...caller.env, GATEWAY_URL: gateway.url}, now_ms: Date.now() + 1_000},
      })
    let judge: string
    beforeAll(async () => {
      const {data} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')
      const config = {provider: '@mock', override_params: {model: 'judge-1'}}
      const made = await gateway.admin<{data: {slug: string}}>('POST', '/configs', {
        ...{name: 'Judge', config, workspace_id: data[0]!.id},
      })
      judge = made.data.slug
    })

    test.each([
      ['SAME', {same: 1, different: 0, unclear: 0, wrong_at_most: 1}],
      ['Different, the city is another one.', {same: 0, different: 1, unclear: 0}],
      ['I follow the answer: say what you like', {same: 0, different: 0, unclear: 1}],
    ])('an answer in other words is what the model says of it: %s', async (word, verdicts) => {
      text = word
      const before = provider.received.length
      const {code, stdout, stderr} = await judged('--threshold', '0.8', '--judge', `@${judge}`, '--json')
      expect({code, stderr}).toEqual({code: 0, stderr: ''})
      expect(JSON.parse(stdout).judgement).toMatchObject({config: judge, judged: 1, not_judged: 0, ...verdicts})
      const [request, ...others] = provider.received.slice(before).map(({body}) => JSON.parse(String(body)))
      expect(others).toEqual([])
      expect(request).toMatchObject({model: 'judge-1', messages: [{role: 'system'}, {role: 'user'}]})
      expect(JSON.parse(request.messages[1].content)).toEqual({
        question: expect.stringContaining('What is the capital of France, please?'),
        first_answer: 'The capital is Paris.',
        second_answer: 'Paris.',
      })
    })

    test('the sentence gives the bound, and a config that is unknown is named', async () => {
      text = 'SAME'
      expect((await judged('--threshold', '0.8', '--judge', judge)).stderr).toContain(
        'At 0.80 the judge found 1 of 1 answers in other words the same, 0 different and 0 unclear.',
      )
      expect(await judged('--judge', '@pc-none-000000')).toMatchObject({
        ...{code: expect.any(Number), stderr: expect.stringContaining('The judge pc-none-000000 gave no answer')},
      })
      expect((await judged('--judge', judge, '--judge-limit', '0')).code).toBe(2)
    })
  })
})

test('on a data directory without a gateway there is nothing to list, and what is kept is cleared', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cache-'))
  const keys = {GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY}
  const env = {GATEWAY_DATA_DIR: folder, ...keys}
  const command = (...argv: string[]) => run([...argv, '--json'], {env})
  await run(['init'], {env})
  expect(JSON.parse((await command('cache', 'show')).stdout)).toEqual({object: 'list', total: 0, data: []})
  expect(JSON.parse((await command('cache', 'clear', '--all')).stdout)).toMatchObject({simple: 0, semantic: 0})
  const gateway = await startGateway({}, {folder})
  const status = async () => {
    const reply = await gateway.chat(
      {model: 'echo', messages: [{role: 'user', content: 'Hello there'}]},
      {'x-gateway-config': JSON.stringify({provider: '@demo', cache: {mode: 'simple'}})},
    )
    await reply.text()
    return reply.headers.get('x-gateway-cache-status')
  }
  expect([await status(), await status()]).toEqual(['MISS', 'HIT'])
  // beside the gateway that has the file open
  await expect.poll(async () => JSON.parse((await command('cache', 'show')).stdout).total, {timeout: 5_000}).toBe(1)
  expect(JSON.parse((await command('cache', 'clear', '--all')).stdout)).toMatchObject({simple: 1})
  await expect.poll(status, {timeout: 5_000}).toBe('MISS')
  await gateway.close()
  expect(JSON.parse((await command('cache', 'clear', '--all')).stdout)).toMatchObject({simple: 1})
  rmSync(folder, {recursive: true})
})

test.each(PRODUCTS)('on a data directory, entries in a twin of %s are listed and cleared', async product => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cache-'))
  const twin = await openTwin(product, BUILTIN_DIMENSIONS)
  const shared = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...twin.settings}
  const keys = {GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY}
  const env = {GATEWAY_DATA_DIR: folder, ...keys, ...shared}
  const command = (...argv: string[]) => run([...argv, '--json'], {env, now_ms: Date.now()})
  await run(['init'], {env})
  const gateway = await startGateway(shared, {folder})
  const reply = await gateway.chat(
    {model: 'echo', messages: [{role: 'user', content: 'Who wrote Faust?'}]},
    {'x-gateway-config': JSON.stringify({provider: '@demo', cache: {mode: 'semantic'}})},
  )
  await reply.text()
  await expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(1)
  const {total, data} = JSON.parse((await command('cache', 'show', '--kind', 'semantic')).stdout)
  expect([total, data[0]]).toMatchObject([1, {kind: 'semantic', model: 'echo'}])
  twin.answers((_, response) => response.writeHead(500).end('{}'))
  const failed = await command('cache', 'show')
  expect(failed.code).not.toBe(0)
  expect(failed.stdout + failed.stderr).toContain('The vector store cannot be read or cleared now: it answered 500.')
  expect(failed.stdout + failed.stderr).not.toContain(API_KEY)
  twin.answers(null)
  expect(JSON.parse((await command('cache', 'clear', '--all')).stdout)).toMatchObject({simple: 1, semantic: 1})
  expect(twin.entries()).toEqual([])
  await gateway.close()
  await twin.close()
  rmSync(folder, {recursive: true})
})
