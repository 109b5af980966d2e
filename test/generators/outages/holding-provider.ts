import {expect} from 'vitest'
import {chatEvents, chatReply, fakeProvider, json} from '../../support/provider.ts'
import type {Asked, OutageWorld, Reply} from './world.ts'

const SLUG = 'held'
const AT = {headers: {'x-gateway-provider': `@${SLUG}`}, body: {model: 'gpt-4o-mini'}}

/** Calls that have begun, and end when they may: of a whole answer, and of one that is streamed. */
export const HELD: Readonly<Record<string, Asked>> = {
  'a whole answer': AT,
  'a stream': {...AT, body: {...AT.body, stream: true, stream_options: {include_usage: true}}},
}

/** A provider that holds each answer: of a stream, all but the first event. */
export interface HoldingProvider {
  /** Begins one call of each kind, and resolves once all are held. */
  begin(key: string): Promise<Readonly<Record<string, Promise<Reply>>>>
  release(): void
  close(): Promise<void>
}

export async function holdingProvider(world: OutageWorld): Promise<HoldingProvider> {
  const waiting: (() => void)[] = []
  const provider = await fakeProvider(({body}, response) => {
    const {model, stream} = JSON.parse(body.toString()) as {model: string; stream?: boolean}
    if (!stream) return waiting.push(() => json(response, chatReply(model)))
    const [first, ...rest] = chatEvents(model)
    response.writeHead(200, {'content-type': 'text/event-stream'}).write(first)
    return waiting.push(() => response.end(rest.join('')))
  })
  await world.gateway.provider(SLUG, 'openai', provider.url)
  return {
    async begin(key) {
      const begun = Object.entries(HELD).map(([name, asked]) => [name, world.call(key, asked)] as const)
      await expect.poll(() => waiting.length).toBe(begun.length)
      return Object.fromEntries(begun)
    },
    release() {
      for (const goOn of waiting.splice(0)) goOn()
    },
    close: () => provider.close(),
  }
}
