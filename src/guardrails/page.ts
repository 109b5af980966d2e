import {z} from 'zod'
import {STREAM_MODES} from '../schema/guardrails.ts'
import type {Check} from './check.ts'
import {EXAMPLES} from './examples.ts'
import {isList} from './json.ts'
import {CHECKS} from './registry.ts'

/** docs/guardrails.md, out of the checks themselves. */
export function guardrailsPage(): string {
  const modes = EXAMPLES.map(({title, about, config}) => `### ${title}\n\n${about}\n\n${json(config)}`)
  return `${[INTRODUCTION, '## Examples', ...modes, '## Checks', TABLE_NOTE, ...CHECKS.map(chapter)].join('\n\n')}\n`
}

const INTRODUCTION = `# Guardrails

A guardrail is a set of checks, run on what goes to a model (\`input_guardrails\`) or on what comes back (\`output_guardrails\`) of chat,
completions, messages, responses, embeddings (input alone) and prompt completions. On all other routes \`default.allowedRequestTypes\` alone
runs; any other check is logged \`skipped: true\`.

- A guardrail passes when all of its checks do. A check that could not judge (a service that does not answer, a text too long for a
  pattern) **passes**, unless its \`failOnError\` is \`true\`.
- With \`deny: true\` a failure ends the call with status 446: on the input before the model is asked, on the output in place of its answer.
  Without it the call goes on and answers 246 in place of 200. Either way the body has \`hook_results\`.
- \`async: true\`: nobody waits for the verdict, which is in the log alone. It denies nothing and changes nothing.
- \`sequential: true\`: each check sees what those before it made of the body. Else all see it as it came, and what they change is
  changed when all have ended: whole new bodies first, redactions after them, so that nothing redacted comes back.
- \`on_success\` and \`on_fail\` note \`feedback\` on the trace.
- Guardrails of the workspace and the organisation run besides, as they were saved. No config takes them away.
- Judged is the last message, every prompt or input, and every choice of an answer. Redactions reach every message, for a client sends the
  whole conversation again with each call.
- A streamed answer is checked as \`stream_mode\` says (${STREAM_MODES.map(mode => `\`${mode}\``).join(', ')}): when it has ended, while it comes, or before any of it leaves.
- Patterns are JavaScript's, without lookaround and back-references, and are matched in time linear in the text.

A guardrail is attached by its id or slug (\`"input_guardrails": ["pg-..."]\`), in short (an object whose keys are checks), or as a hook in
\`before_request_hooks\` or \`after_request_hooks\`. Ids of checks and names of parameters may be in any case; \`default.\` may be left out.`

const TABLE_NOTE = 'Every check also takes `failOnError` (true or false, default `false`): an error of the check counts as a failure.'

interface Json {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Json
  readonly anyOf?: readonly Json[]
  readonly properties?: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Json | boolean
  readonly default?: unknown
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

function chapter(check: Check): string {
  const schema = z.toJSONSchema(check.parameters, {io: 'input', unrepresentable: 'any'}) as Json
  const rows = rowsOf(schema, '').filter(row => !row.startsWith('| `failOnError`'))
  const sides = check.sides.join(' and ') + (check.everywhere ? ', on every route' : '')
  const other = check.aliases.length ? ` Also called ${check.aliases.map(alias => `\`${alias}\``).join(', ')}.` : ''
  const table = rows.length ? `\n\n| Parameter | Value | Default | What it is |\n| --- | --- | --- | --- |\n${rows.join('\n')}` : ''
  return `### \`${check.id}\`\n\n**${check.title}**, ${check.kind}, ${sides}. ${check.about}${other}${table}`
}

/** A row for each parameter, an object's own beneath it. */
function rowsOf(schema: Json, before: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
    const is_required = schema.required?.includes(name) ?? false
    const fallback = is_required
      ? 'required'
      : of.default === undefined || isEmptyObject(of.default)
        ? ''
        : `\`${JSON.stringify(of.default)}\``
    const row = `| \`${before}${name}\` | ${typed(of)} | ${fallback} | ${(of.description ?? '').replaceAll('|', '\\|')} |`
    const each = typeof of.additionalProperties === 'object' ? of.additionalProperties : undefined
    return [row, ...rowsOf(of, `${before}${name}.`), ...(each ? rowsOf(each, `${before}${name}.<key>.`) : [])]
  })
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  null: 'null',
  object: 'object',
}

function typed(of: Json): string {
  if (of.enum) return of.enum.map(each => `\`${String(each)}\``).join(', ')
  if (of.anyOf) return [...new Set(of.anyOf.map(typed))].join(' or ')
  if (of.type === 'array') return `list of ${of.items ? typed(of.items) : 'anything'}`
  if (isList(of.type)) return of.type.map(type => WORDS[String(type)] ?? String(type)).join(' or ')
  if (typeof of.type !== 'string') return 'anything'
  const {minimum, maximum} = of
  const is_bounded = minimum !== undefined && maximum !== undefined && Math.abs(minimum) < 1e9 && maximum < 1e9
  return `${WORDS[of.type] ?? of.type}${is_bounded ? `, ${minimum} to ${maximum}` : ''}`
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}
