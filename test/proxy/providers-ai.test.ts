import {createOpenAI} from '@ai-sdk/openai'
import {APICallError, generateText, isStepCount, jsonSchema, streamText, tool} from 'ai'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {CALLED, SUMMED, startTwins, TEXT, TWINS, type Twin} from '../support/dialects.ts'
import {type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

let gateway: TestGateway
let twins: readonly Twin[]
let close: () => Promise<void>
beforeAll(async () => {
  const started = await startTwins()
  gateway = started.gateway
  twins = started.twins
  close = started.close
})
afterAll(() => close())
afterEach(() => {
  expect(twins.flatMap(twin => twin.forget())).toEqual([])
})

const DEGREES: Readonly<Record<string, string>> = {Oslo: '4 degrees', Málaga: '19 degrees'}
const tools = {
  weather: tool({
    description: 'Weather of a city',
    inputSchema: jsonSchema<{city: string; days?: number}>({
      type: 'object',
      properties: {city: {type: 'string'}, days: {type: 'integer'}},
      required: ['city'],
      additionalProperties: false,
    }),
    execute: ({city}) => DEGREES[city]!,
  }),
}
const used = ({input_tokens, output_tokens}: {input_tokens: number; output_tokens: number}) => ({
  inputTokens: input_tokens,
  outputTokens: output_tokens,
  totalTokens: input_tokens + output_tokens,
})
/** Nothing is kept of a response here: its items are sent whole, not by their ids. */
const UNSTORED = {providerOptions: {openai: {store: false}}}
const calls = CALLED.calls.map(({id, name, arguments: input}) => ({toolCallId: id, toolName: name, input}))

describe.each(TWINS.flatMap(({kind}, at) => (['chat', 'responses'] as const).map(api => [kind, api, at] as const)))(
  '%s by the AI SDK over %s',
  (kind, api, at) => {
    const twin = () => twins[at]!
    const model = () =>
      createOpenAI({apiKey: WORKSPACE_KEY, baseURL: `${gateway.url}/v1`, headers: {'x-gateway-provider': `@${kind}`}})[
        api
      ](twin().model)
    const asked = () => ({
      model: model(),
      instructions: 'Be brief.',
      prompt: 'Which river runs through Vienna?',
      maxRetries: 0,
      ...UNSTORED,
    })

    test('a text is generated', async () => {
      const {text, finishReason, usage} = await generateText(asked())
      expect({text, finishReason}).toEqual({text: TEXT.text, finishReason: 'stop'})
      expect(usage).toMatchObject(used(TEXT))
      expect(twin().understood[0]).toMatchObject({
        system: 'Be brief.',
        turns: [{role: 'user', text: 'Which river runs through Vienna?'}],
      })
    })

    test('a text is streamed', async () => {
      const faults: unknown[] = []
      const result = streamText({...asked(), onError: ({error}) => void faults.push(error)})
      const pieces = []
      for await (const piece of result.textStream) pieces.push(piece)
      expect(pieces.length).toBeGreaterThan(1)
      expect(pieces.join('')).toBe(TEXT.text)
      expect(await result.finishReason).toBe('stop')
      expect(await result.usage).toMatchObject(used(TEXT))
      expect(faults).toEqual([])
    })

    test('tools are called, run and summed up, whole and streamed', async () => {
      const faults: unknown[] = []
      const more = {...asked(), prompt: 'Weather?', tools, stopWhen: isStepCount(2)}
      const plain = await generateText(more)
      const result = streamText({...more, onError: ({error}) => void faults.push(error)})
      await result.consumeStream()
      for (const {text, steps} of [plain, {text: await result.text, steps: await result.steps}]) {
        expect(text).toBe(SUMMED.text)
        expect(steps.map(({finishReason}) => finishReason)).toEqual(['tool-calls', 'stop'])
        expect(steps[0]!.text).toBe(CALLED.text)
        expect(steps[0]!.toolCalls).toMatchObject(calls)
        expect(steps.map(({usage}) => usage)).toMatchObject([used(CALLED), used(SUMMED)])
      }
      expect(faults).toEqual([])
      const [first, second, third, fourth] = twin().understood
      expect([first, second]).toEqual([third, fourth])
      expect(second!.turns).toMatchObject([
        {role: 'user', text: 'Weather?'},
        {role: 'assistant', calls: CALLED.calls},
        {
          role: 'user',
          results: [
            ['D681PevKs', '4 degrees'],
            ['x9Zk2LmQ7', '19 degrees'],
          ],
        },
      ])
    })

    test('an error of the provider is an APICallError with its status and words', async () => {
      twin().play({status: 429, message: 'Too many tokens a minute.'})
      const error = await generateText(asked()).then(
        () => null,
        (fault: unknown) => fault,
      )
      twin().play(null)
      if (!APICallError.isInstance(error)) throw error
      expect(error.statusCode).toBe(429)
      expect(error.isRetryable).toBe(true)
      expect(error.message).toContain('Too many tokens a minute.')
    })
  },
)

test('items that are named alone are refused by a sentence that says what to do', async () => {
  const {kind, model} = twins[0]!
  const openai = createOpenAI({
    apiKey: WORKSPACE_KEY,
    baseURL: `${gateway.url}/v1`,
    headers: {'x-gateway-provider': `@${kind}`},
  })
  const error = await generateText({
    model: openai.responses(model),
    prompt: 'Weather?',
    tools,
    stopWhen: isStepCount(2),
    maxRetries: 0,
  }).then(
    () => null,
    (fault: unknown) => fault,
  )
  expect(error).toMatchObject({statusCode: 400, message: expect.stringContaining('send them whole (`store`: false)')})
})
