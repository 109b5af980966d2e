import {z} from 'zod'
import {isObject} from '../base/json-object.ts'
import {STREAM_MODES} from '../schema/guardrails.ts'
import type {Check} from './check.ts'
import {EXAMPLES} from './examples.ts'
import {isList} from './json.ts'
import {LEFT_ALONE} from './left-alone.ts'
import {SAVED} from './page-saved.ts'
import {PARTNERS} from './partners/index.ts'
import {CHECKS} from './registry.ts'

/** docs/guardrails.md, out of the checks themselves. */
export function guardrailsPage(): string {
  const modes = EXAMPLES.map(({title, about, config}) => `### ${title}\n\n${about}\n\n${json(config)}`)
  const checks = ['## Checks', TABLE_NOTE, ...CHECKS.map(chapter)]
  return `${[INTRODUCTION, '## What is left alone', leftAlone(), '## Examples', ...modes, SAVED, ...checks, '## Partners', PARTNERS_NOTE, partners()].join('\n\n')}\n`
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
- Prose is judged by its texts: the last message, every prompt or input, every choice of an answer. What forbids words or patterns sees what an
  answer says beside them too, such as reasoning and the arguments of tool calls.
- \`default.pii\` judges every string of a body, and redactions reach every string, in every message: a client sends the whole conversation again
  with each call, with tools, metadata, file names and calls of tools. [What is left alone](#what-is-left-alone) is a short list.
- A body that names a key twice in one object, anywhere, is refused (400) where something judges it: what is judged is what is forwarded.
- A streamed answer is checked as \`stream_mode\` says (${STREAM_MODES.map(mode => `\`${mode}\``).join(', ')}): when it has ended, while it comes, or before any of it leaves.
  - \`after\`: nothing is held back, and nothing can be taken back. The verdict is in the log, and behind the stream's end where the request
    asks for \`x-gateway-strict-open-ai-compliance: false\`.
  - \`window\`: text leaves at most \`stream_window_chars\` behind its coming. Checks that can judge a part (words that may not stand there,
    patterns that may not match, personal data, webhooks and services) deny while nothing of what they found has left, if that is no longer than half of the window; the others at the end,
    before the client is told that the answer is whole. A denial ends the stream with an error event; of the first words it is a plain 446.
    What a redaction replaces is replaced in all later text the same way.
  - \`buffer\`: a denial is a plain 446, and a redacted answer is streamed anew.
- What is kept in the cache has passed the same output guardrails as the call that finds it; they are not run again. A stream that is judged
  \`after\` is not kept, nor is one in which something is put back.
- A placeholder of \`default.pii\` with \`reversible\` is put back in the answer, whole or streamed, for the client alone; provider and log have the
  placeholder.
- Patterns are JavaScript's, without lookaround and back-references, and are matched in time linear in the text.

A guardrail is attached by its id or slug (\`"input_guardrails": ["pg-..."]\`), in short (an object whose keys are checks), or as a hook in
\`before_request_hooks\` or \`after_request_hooks\`. Ids of checks and names of parameters may be in any case; \`default.\` may be left out.
A config's \`default_input_guardrails\` and \`default_output_guardrails\` take the same forms, and run at every target besides all others.`

const ALONE_NOTE = `These strings no guardrail sees or changes, as long as they have the form that their kind has; an address under such a key is a text like
any other. In data that callers and tools fill as they like (metadata, variables, arguments and inputs of tools) nothing is left alone but
keys that are plain names. Arguments that are JSON in a text stay JSON.`

/** The table of strings that are left alone. */
function leftAlone(): string {
  const rows = LEFT_ALONE.map(({what, keys}) => `| ${what} | ${keys.map(key => `\`${key}\``).join(', ')} |`)
  return [ALONE_NOTE, ['| What | Under the keys |', '| --- | --- |', ...rows].join('\n')].join('\n\n')
}

const TABLE_NOTE = 'Every check also takes `failOnError` (true or false, default `false`): an error of the check counts as a failure.'

const PARTNERS_NOTE = `Checks that ask a service of somebody else's: a POST of JSON through the egress wall, redirections not followed. Texts of calls leave the
gateway for these. \`credentials\` is an object of the names in the table; a secret is a text or \`{"secret_reference_id": "..."}\`. Without a
credential that is required, and whenever the service does not answer as it documents, the check could not judge. Every one of them takes \`timeout\` in
milliseconds and \`failOnError\`. What a service redacts is replaced wherever the same text stands; a redaction that cannot be put in place
fails. \`gateway.*\` are asked of classifiers that you host: \`POST {baseUrl}/moderations\`, \`/language\`, \`/pii\` and \`/gibberish\` with \`{"input": "..."}\`.`

/** A row for each partner's check; a secret is in bold, what is not required in parentheses. */
function partners(): string {
  const head = '| Check | Side | Credentials | Parameters | Timeout | When it passes |\n| --- | --- | --- | --- | ---: | --- |'
  const rows = PARTNERS.map(check => {
    const credentials = Object.entries(check.credentials).map(([name, {is_secret, is_required}]) => {
      const said = is_secret ? `**\`${name}\`**` : `\`${name}\``
      return is_required ? said : `(${said})`
    })
    const schema = z.toJSONSchema(check.parameters, {io: 'input', unrepresentable: 'any'}) as Json
    const parameters = Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
      if (COMMON.has(name)) return []
      return schema.required?.includes(name) ? `\`${name}\`: ${typed(of)}` : `(\`${name}\`: ${typed(of)})`
    })
    const sides = check.sides.join(', ') + (check.kind === 'mutator' ? ', mutator' : '')
    return `| \`${check.id}\` | ${sides} | ${credentials.join(', ')} | ${parameters.join('; ')} | ${check.timeout_ms} | ${check.about} |`
  })
  return [head, ...rows].join('\n')
}

const COMMON: ReadonlySet<string> = new Set(['credentials', 'timeout', 'failOnError'])

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
  return isObject(value) && Object.keys(value).length === 0
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
