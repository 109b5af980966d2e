import type {FastifyInstance, FastifyRequest} from 'fastify'
import {Refusal} from '../base/errors.ts'
import {checkDepth} from '../base/json-shape.ts'

/** Bodies are JSON or empty; a body that is empty is none, whatever its type says (clients send one with DELETE). */
export function onlyJson(scope: FastifyInstance) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i,
    {parseAs: 'string'},
    async (_: FastifyRequest, text: string) => parseJson(text),
  )
  scope.addContentTypeParser('*', {parseAs: 'buffer'}, async (request: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined
    throw new Refusal('body.content_type', {
      content_type: request.headers['content-type'] ?? '(none)',
      expected: 'application/json',
    })
  })
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  checkDepth(text, 'The request body')
  try {
    return JSON.parse(text)
  } catch (error) {
    // The library quotes what it read, which may be a secret.
    const reason = (error as SyntaxError).message.replace(/, (?:\.\.\.)?"[\s\S]*is not valid JSON$/, '')
    throw new Refusal('body.not_json', {reason})
  }
}
