import type {Readable} from 'node:stream'
import {setImmediate as turn} from 'node:timers/promises'
import fc from 'fast-check'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {detachInlineFiles} from '../../src/proxy/upstream/body/inline-files.ts'
import {written} from '../../src/proxy/upstream/translate.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

const LARGE = Buffer.alloc(300_000, 'picture').toString('base64')

describe('files held out of a body', () => {
  const head = fc.constantFrom(
    'image/png',
    'image/jpeg',
    'audio/wav',
    'video/mp4',
    'application/pdf',
    'image/svg+xml',
    'image/png;name=a.png',
  )
  const file = fc
    .tuple(head, fc.integer({min: 0, max: 200_000}))
    .map(([type, cut]) => `data:${type};base64,${LARGE.slice(cut)}`)
  const other = fc.oneof(
    fc.string({unit: 'binary'}),
    fc.constantFrom('data:image/png;base64,iVBO', '\\"data:image/png;base64,', `"data:text/plain;base64,${LARGE}`),
  )
  const bodies = fc.dictionary(fc.string({unit: 'binary'}), fc.array(fc.oneof(file, other, fc.jsonValue())), {
    noNullPrototype: true,
  })

  test('come back where they were, whatever else is there', () => {
    fc.assert(
      fc.property(bodies, fc.constantFrom(undefined, 1), (body, indent) => {
        const text = JSON.stringify(body, null, indent)
        const held = detachInlineFiles(Buffer.from(text))
        if (held)
          expect(JSON.parse(Buffer.concat(held.restore(JSON.stringify(held.json))).toString())).toEqual(
            JSON.parse(text),
          )
      }),
      {numRuns: 50},
    )
  })

  test('are those that are large, in base64, and of a kind that every provider is handed as it is', () => {
    const said = (text: string) =>
      JSON.stringify(detachInlineFiles(Buffer.from(`{"a":"${text}","b":"${' '.repeat(300_000)}"}`))?.json ?? null)
        .length
    expect(said(`data:image/png;base64,${LARGE}`)).toBeLessThan(301_000)
    for (const text of [
      'data:image/png;base64,iVBO',
      LARGE,
      `data:image/png,${LARGE}`,
      `data:text/plain;base64,${LARGE}`,
      `data:image/png;base64,${LARGE}\\n`,
      `\\"data:image/png;base64,${LARGE}`,
    ]) {
      expect(said(text)).toBe(4)
    }
    expect(detachInlineFiles(Buffer.from(`{"a":"data:image/png;base64,${LARGE}"`))).toBeNull()
  })

  test('leave as they came, not copied', async () => {
    const body = Buffer.from(JSON.stringify({a: `data:image/png;base64,${LARGE.repeat(4)}`}))
    const held = detachInlineFiles(body)!
    const of = {request: {body: held.json}, context: {provider: 'p'}, held} as unknown as Parameters<typeof written>[0]
    const leaving = written(of, false)
    const stream = leaving.body as Readable
    stream.read(0) // all is there before it is asked for, as when a line has to be dialled
    await turn()
    const pieces: Buffer[] = []
    for await (const piece of stream) pieces.push(piece)
    expect(Buffer.concat(pieces)).toEqual(body)
    expect(leaving.headers).toEqual({'content-length': String(body.length)})
    expect(pieces.filter(({length}) => length > 1000).every(({buffer}) => buffer === body.buffer)).toBe(true)
  })

  test('are left alone where they say the mark of another body', () => {
    const held = detachInlineFiles(
      Buffer.from(JSON.stringify({a: `data:image/png;base64,${LARGE}`, b: `data:image/png;base64,${LARGE}x`})),
    )!
    const again = detachInlineFiles(Buffer.from(JSON.stringify({...held.json, c: `data:image/png;base64,${LARGE}`})))!
    expect(JSON.parse(Buffer.concat(again.restore(JSON.stringify(again.json))).toString())).toEqual({
      ...held.json,
      c: `data:image/png;base64,${LARGE}`,
    })
  })
})

describe('a chat with a large picture', () => {
  const PICTURE = Buffer.alloc(2_000_000, 'picture').toString('base64')
  const url = `data:image/png;base64,${PICTURE}`
  const anthropic = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{type: 'text', text: 'A fox.'}],
    stop_reason: 'end_turn',
  }
  const gemini = {candidates: [{content: {role: 'model', parts: [{text: 'A fox.'}]}, finishReason: 'STOP', index: 0}]}
  const converse = {
    output: {message: {role: 'assistant', content: [{text: 'A fox.'}]}},
    stopReason: 'end_turn',
    usage: {inputTokens: 1, outputTokens: 1},
  }
  const KINDS = [
    ['anthropic', anthropic, ['messages', 0, 'content', 1, 'source', 'data'], {}],
    ['google', gemini, ['contents', 0, 'parts', 1, 'inlineData', 'data'], {}],
    // its login signs the bytes that leave
    [
      'bedrock',
      converse,
      ['messages', 0, 'content', 1, 'image', 'source', 'bytes'],
      {aws_auth_type: 'accessKey', aws_access_key_id: 'AKID', aws_secret_access_key: 'secret', aws_region: 'us-east-1'},
    ],
  ] as const
  let gateway: TestGateway
  let upstream: FakeProvider
  beforeAll(async () => {
    gateway = await startGateway()
    upstream = await fakeProvider()
    for (const [kind, , , more] of KINDS)
      await gateway.provider(kind, kind, upstream.url, {configurations: {custom_host: upstream.url, ...more}})
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  test.each(KINDS)('reaches %s whole, with its length', async (kind, answer, path) => {
    upstream.answer((_, response) => json(response, answer))
    const content = [
      {type: 'text', text: 'What is this? ☃'},
      {type: 'image_url', image_url: {url}},
    ]
    const body = {model: 'claude-sonnet-4-5', messages: [{role: 'user', content}]}
    for (const config of [{provider: `@${kind}`}, {provider: `@${kind}`, cache: {mode: 'simple'}}]) {
      upstream.received.length = 0
      const reply = await gateway.chat(body, {'x-gateway-config': JSON.stringify(config)})
      expect(await reply.json()).toMatchObject({choices: [{message: {content: 'A fox.'}}]})
      const [received] = upstream.received
      expect(received!.headers['content-length']).toBe(String(received!.body.length))
      const said: unknown = JSON.parse(received!.body.toString())
      expect(path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], said) === PICTURE).toBe(
        true,
      )
      expect(JSON.stringify(said).includes('held')).toBe(false)
    }
  })
})
