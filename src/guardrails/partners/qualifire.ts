import {z} from 'zod'
import {parseJson} from '../../base/json-object.ts'
import type {Side} from '../../schema/guardrails.ts'
import {isObject, type JsonObject, type JsonValue, own} from '../json.ts'
import {secret} from './credentials.ts'
import {BOTH, type PartnerCall, type PartnerCheck, partner, unknownForm} from './partner.ts'
import {dig, entriesOf, textsIn} from './reading.ts'

const credentials = {apiKey: secret('API key.')}
type Call = PartnerCall<unknown, keyof typeof credentials>

/** Source: Qualifire API, `POST /api/evaluation/evaluate`. */
function evaluation(name: string, title: string, sides: readonly Side[], flag: string): PartnerCheck {
  return partner({
    id: `qualifire.${name}`,
    title: `Qualifire: ${title}`,
    about: 'Passes unless the evaluation flags the text.',
    sides,
    credentials,
    shape: {},
    ask: call => requestFor(call, {[flag]: true}),
    read: ([reply]) => ruled(reply),
  })
}

export const qualifire: readonly PartnerCheck[] = [
  evaluation('contentModeration', 'content moderation', BOTH, 'content_moderation_check'),
  evaluation('hallucinations', 'hallucinations', ['output'], 'hallucinations_check'),
  evaluation('pii', 'personal data', BOTH, 'pii_check'),
  evaluation('promptInjections', 'prompt injections', ['input'], 'prompt_injections'),
  evaluation('grounding', 'grounding', ['output'], 'grounding_check'),
  partner({
    id: 'qualifire.toolUseQuality',
    title: 'Qualifire: tool use quality',
    about: 'Passes unless the answer’s tool calls are flagged.',
    sides: ['output'],
    credentials,
    shape: {},
    ask: call => ({...requestFor(call, {}), body: {...toolUse(call), tool_selection_quality_check: true}}),
    read: ([reply]) => ruled(reply),
  }),
  partner({
    id: 'qualifire.policy',
    title: 'Qualifire: policy',
    about: 'Passes unless the text breaks one of the policies.',
    sides: BOTH,
    credentials,
    shape: {policies: z.array(z.string().min(1).max(2000)).min(1).max(50).describe('Policies, each a sentence.')},
    ask: call => requestFor(call, {assertions: call.parameters.policies}),
    read: ([reply]) => ruled(reply),
  }),
]

function requestFor({credentials, context, text, is_input}: Call, more: JsonObject) {
  const fields: JsonObject = is_input ? {input: text} : {input: context.request?.text ?? '', output: text}
  return {
    url: 'https://proxy.qualifire.ai/api/evaluation/evaluate',
    headers: {'x-qualifire-api-key': credentials.apiKey},
    body: {...fields, ...more},
  }
}

function ruled(reply: JsonValue | undefined) {
  const status = dig(reply, 'status')
  if (typeof status !== 'string') throw unknownForm('Qualifire')
  const results = entriesOf(dig(reply, 'evaluationResults')).flatMap(each => entriesOf(dig(each, 'results')))
  const flagged = results.filter(each => dig(each, 'flagged') === true)
  return {
    passes: flagged.length === 0 && (status === 'success' || status === 'completed'),
    labels: textsIn(flagged.map(each => dig(each, 'name'))),
  }
}

/** The last message, the answer with its tool calls, and the tools that could be called, in the words of the API. */
function toolUse({context, view, text}: Call): JsonObject {
  const calls = entriesOf(dig(view.body, 'choices', 0, 'message', 'tool_calls')).map(call => ({
    id: dig(call, 'id') ?? null,
    name: dig(call, 'function', 'name') ?? null,
    arguments: parsed(dig(call, 'function', 'arguments')),
  }))
  const tools = entriesOf(dig(context.request?.body, 'tools')).flatMap(tool => {
    const of = own(tool, 'function')
    return isObject(of)
      ? [{name: of.name ?? null, description: of.description ?? null, parameters: of.parameters ?? null}]
      : []
  })
  return {
    messages: [
      {role: 'user', content: context.request?.text ?? ''},
      {role: 'assistant', content: text, ...(calls.length ? {tool_calls: calls} : {})},
    ],
    ...(tools.length ? {available_tools: tools} : {}),
  }
}

function parsed(value: JsonValue | undefined): JsonValue {
  try {
    return typeof value === 'string' ? (parseJson(value) as JsonValue) : {}
  } catch {
    return {}
  }
}
