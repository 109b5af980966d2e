import {type Node, parseTemplate, TemplateFault} from '../base/mustache/parse.ts'
import type {Variables} from '../base/mustache/render.ts'
import type {PromptTemplate} from '../schema/prompts.ts'
import {type PartialRef, type Prompt, partialsIn, partialsOf, readPrompt, refKey, renderPrompt} from './prompt.ts'

export const MAX_PARTIALS = 100

/** The text of a partial; undefined where there is none. */
export type LoadPartial = (ref: PartialRef) => Promise<string | undefined>

/** A version of a prompt with the partials it includes, read: ready to be rendered any number of times. */
export interface ReadyPrompt {
  readonly template: PromptTemplate
  readonly prompt: Prompt
  readonly partials: ReadonlyMap<string, readonly Node[]>
}

/**
 * Reads a template and, one after another, the partials that are included in it and in each other. Throws a
 * `TemplateFault`.
 */
export async function readyPrompt(template: PromptTemplate, load: LoadPartial): Promise<ReadyPrompt> {
  const prompt = readPrompt(template)
  const partials = new Map<string, readonly Node[]>()
  const open = partialsOf(prompt)
  for (let ref = open.pop(); ref; ref = open.pop()) {
    if (partials.has(refKey(ref))) continue
    if (partials.size === MAX_PARTIALS) throw new TemplateFault(`more than ${MAX_PARTIALS} partials are included`)
    const text = await load(ref)
    if (text === undefined)
      throw new TemplateFault(`there is no partial ${ref.name}${ref.version === 'default' ? '' : `@${ref.version}`}`)
    const nodes = parseTemplate(text)
    partials.set(refKey(ref), nodes)
    open.push(...partialsIn(nodes))
  }
  return {template, prompt, partials}
}

/** The body of the call that a prompt makes, and which words it is in. */
export interface PromptedCall {
  readonly endpoint: 'chatComplete' | 'complete'
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * The rendered messages or text with the saved parameters, overridden by the call's own members. Messages or a text of
 * the call's own replace the rendered ones. Throws a `TemplateFault`.
 */
export function promptedCall(
  ready: ReadyPrompt,
  variables: Variables,
  overrides: Readonly<Record<string, unknown>>,
): PromptedCall {
  const {template, prompt, partials} = ready
  const rendered = renderPrompt(prompt, variables, (name, version) => partials.get(refKey({name, version})))
  const {model, functions, tools, tool_choice} = template
  const saved = {...template.parameters, ...given({model, functions, tools, tool_choice})}
  const is_chat = 'messages' in overrides || (!('prompt' in overrides) && 'messages' in rendered)
  const {messages: _, prompt: __, ...rest} = {...saved} as Record<string, unknown>
  const words = is_chat ? ('messages' in rendered ? rendered : {}) : 'prompt' in rendered ? rendered : {}
  return {endpoint: is_chat ? 'chatComplete' : 'complete', body: {...rest, ...words, ...overrides}}
}

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}
