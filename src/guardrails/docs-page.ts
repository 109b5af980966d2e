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

/** The page docs/guardrails.md: it is printed from the checks themselves. */
export function guardrailsPage(): string {
  const modes = EXAMPLES.map(({title, about, config}) => `### ${title}\n\n${about}\n\n${json(config)}`)
  const checks = ['## Checks', TABLE_NOTE, ...CHECKS.map(chapter)]
  return `${[INTRODUCTION, '## Fields that are never checked', leftAlone(), '## Examples', ...modes, SAVED, ...checks, '## Partners', PARTNERS_NOTE, partners()].join('\n\n')}\n`
}

const INTRODUCTION = `# Guardrails

A guardrail is a set of checks. \`input_guardrails\` check requests; \`output_guardrails\` check responses.

\`\`\`json
{"input_guardrails": [{"default.contains": {"words": ["internal use only"], "operator": "none"}, "deny": true}]}
\`\`\`

This config denies every request that contains the phrase, on every route. On chat, completions, messages, responses,
embeddings (input only) and prompt completions all checks run. On all other routes, \`/proxy/*\` included, the checks that
forbid something run. Others are logged there as \`skipped: true\`, with the reason.
[Every route](#every-route) describes it.

## How a guardrail runs

- **Verdict.** A guardrail passes if all of its checks pass. A check that cannot decide **passes**, unless its
  \`failOnError\` is \`true\`. Examples are a service that does not respond and a text too long for a pattern.
- \`deny: true\`: a failure ends the call with status 446. On the input this happens before the provider is called, on the
  output it replaces the response. Without \`deny\` the call continues and returns 246 instead of 200. In both cases the body
  has \`hook_results\`.
- \`async: true\`: the call does not wait for the verdict, which appears only in the log. The guardrail cannot deny or change
  anything.
- \`sequential: true\`: each check sees the changes of the checks before it. Otherwise all checks see the original body, and
  changes are applied when all have ended. A body that a check replaces as a whole is put in first, and redactions are
  applied to it. So no check brings back a text that another one redacted.
- \`on_success\` and \`on_fail\` add \`feedback\` to the trace.
- Guardrails of the workspace and the organisation run in addition, as saved. A config cannot remove them.
- Patterns are JavaScript patterns without lookaround and back-references. Matching takes time linear in the text.

## What a check reads

- Text checks read the last message, every prompt or input, and every choice of a response. Checks that forbid words or
  patterns also read the rest of a response, such as reasoning and the arguments of tool calls.
- \`default.pii\` reads every string of a body, and redactions apply to every string of every message. Clients repeat the
  whole conversation with each call, with tools, metadata, file names and tool calls.
  [Fields that are never checked](#fields-that-are-never-checked) lists the few exceptions.
- A checked body is refused (400) if any object in it has the same key twice. The forwarded body is always the checked one.
- An answer, or an event of a stream, is refused if an object in it has more than 10,000 members.

## Every route

\`gateway guardrails coverage NAME\` lists what a guardrail judges of each operation.

- **Checks.** On routes in other formats these checks run: \`default.contains\` with \`none\`, \`default.regexMatch\` with
  \`not\` or \`redact\`, \`default.regexReplace\`, \`default.pii\` and \`default.promptInjection\`. Webhooks and partners run if
  the guardrail has \`every_route: true\`. All others are skipped with the reason \`not_text\`.
- **Requests.** These checks read every string of JSON, every field of a form, and texts. Keys, names of fields and names
  of files are judged too. A redaction changes only the values, and no other byte. Strings of 1,024 bytes or more that are
  base64 are not read. A body that calls itself JSON or a form and is not well formed is refused (400). So is JSON with
  more than 256 levels.
- **Compressed requests** are decoded before they are judged, and sent without \`content-encoding\`.
- **Responses** are read where the operation writes text: transcriptions, OCR, and calls with a body to routes that the
  gateway does not know. Lists, files and metadata are read if the guardrail has \`every_route: true\`. Other content, such
  as sound, passes and is logged as skipped.
- **Errors of the provider.** Guardrails of the output that deny or redact read every string of an error, with the checks
  named above. A denied error is 446. Retries and fallbacks go by the provider's status.
- **Unreadable bodies.** Guardrails cannot read other files in forms, sound, other character sets, and bodies over
  \`GUARDRAIL_MAX_BODY_MB\`. By default such a call passes. The log has \`skipped: true\`, the reason \`unreadable\` and the
  name of the part. With \`UNREADABLE_BODIES=deny\`, or \`gateway workspaces update NAME --unreadable-bodies deny\`, it is
  refused (446) if a guardrail that denies or redacts is attached.

## Files for batches

The rows of a file of purpose \`batch\` are requests. Each row is judged as a call of its \`url\` would be, with all checks; a
row without a \`url\` by the form of its \`body\`. Members beside its texts, and rows in other formats, are judged string by
string.

- **Upload.** Rows are judged while the file passes, eight at once. A row leaves when it has passed. A denial (446) names
  the line. The denied row, all that follows it and the end of the form never reach the provider.
- **Redaction.** A file with a \`content-length\` is refused (400) at the first row that would change, and the refusal names
  the line. In an upload with \`transfer-encoding: chunked\` the changed row is sent. The same holds for prefixes.
- **Rows that can be read in two ways** are refused (400) with their line: no JSON, a key twice, no UTF-8, too deep.
- **Limits.** A row over \`GUARDRAIL_MAX_BODY_MB\` is an unreadable body. A row that is not judged within 60 seconds ends the
  upload (503).
- **Purpose.** Send \`purpose\` before the file. Otherwise the first line decides whether the file has rows; a file whose first
  line is no request is refused if \`purpose\` turns out to be \`batch\`.
- **\`POST /batches\`.** A file that was judged under the guardrails now attached is not judged again for 30 days. The content of
  any other file is fetched from the provider and judged first, within 2 minutes. If it cannot be fetched, is longer
  than \`GUARDRAIL_MAX_BODY_MB\`, or is in a bucket, the batch is an unreadable body.
- **Rows in the request**, as in \`/messages/batches\` and Gemini's inline batches, are judged as a route in another format.

## Streams, cache and placeholders

\`stream_mode\` (${STREAM_MODES.map(mode => `\`${mode}\``).join(', ')}) selects when a streamed response is checked:

- \`after\`: the stream is not delayed, and cannot be stopped. The verdict appears in the log. With the request header
  \`x-gateway-strict-open-ai-compliance: false\` it is also sent after the end of the stream.
- \`window\`: text is delayed by at most \`stream_window_chars\`.
  - Checks that can decide on a part of the text deny before any of the text they found is sent. These are forbidden
    words, forbidden patterns, personal data, webhooks and services. The text they find must fit in half of the window.
  - All other checks run at the end, before the client receives the end of the stream.
  - A denial ends the stream with an error event. If no text was sent yet, it is a plain 446.
  - A redaction replaces the same text in the rest of the stream too.
- \`buffer\`: the response is checked before any of it is sent. A denial is a plain 446. A redacted response is streamed
  again.

A cached response has passed the same output guardrails as the call that finds it, and they do not run again. A stream in
the mode \`after\` is not cached. A stream with a restored placeholder is not cached either.

With \`reversible\`, the client receives the original text for each placeholder of \`default.pii\`, whole or streamed. The
provider and the log have the placeholder.

## Attach a guardrail

There are three ways to attach a guardrail to a config:

- by its id or slug: \`"input_guardrails": ["pg-..."]\`;
- in short form: an object whose keys are checks, as in the example above;
- as a hook in \`before_request_hooks\` or \`after_request_hooks\`.

Check ids and parameter names may be in any case; \`default.\` may be left out. A config's \`default_input_guardrails\` and
\`default_output_guardrails\` take the same forms, and run at every target in addition to all others.`

const ALONE_NOTE = `No guardrail sees or changes these strings, as long as they have the form of their kind.
Under \`url\`, for example, only a \`data:\` URL is left out; any other URL is checked. Callers and tools fill
metadata, variables, and arguments and inputs of tools as they like. In these every string is checked, and so is every
name of a member that is not a plain identifier. JSON inside a text stays valid JSON.`

/** The table of strings that are left alone. */
function leftAlone(): string {
  const rows = LEFT_ALONE.map(({what, keys}) => `| ${what} | ${keys.map(key => `\`${key}\``).join(', ')} |`)
  return [ALONE_NOTE, ['| Strings | Under the keys |', '| --- | --- |', ...rows].join('\n')].join('\n\n')
}

const TABLE_NOTE =
  'Every check also takes `failOnError` (true or false, default `false`): an error of the check counts as a failure.'

const PARTNERS_NOTE = `These checks call external services: a POST of JSON through the egress checks, without following redirections. The texts of
calls leave the gateway.

- \`credentials\` is an object with the names in the table. Secrets are in bold, optional names in parentheses. A secret is
  a text. A reference to a secret manager (\`{"secret_reference_id": "..."}\`) is accepted, but this version does not
  read it: the check then cannot decide.
- A check cannot decide if a required credential is missing, or if the service does not respond as documented.
- Every check accepts \`timeout\` in milliseconds and \`failOnError\`.
- Text redacted by a service is replaced wherever it occurs. The check fails if a redaction cannot be applied.
- The four checks \`gateway.*\` call a service that you host: \`POST {baseUrl}/moderations\`, \`/language\`, \`/pii\` and
  \`/gibberish\` with \`{"input": "..."}\`.`

/** A row for each partner's check; a secret is in bold, what is not required in parentheses. */
function partners(): string {
  const head =
    '| Check | Side | Credentials | Parameters | Timeout | When it passes |\n| --- | --- | --- | --- | ---: | --- |'
  const rows = PARTNERS.map(check => {
    const credentials = Object.entries(check.credentials).map(([name, {is_secret, is_required}]) => {
      const label = is_secret ? `**\`${name}\`**` : `\`${name}\``
      return is_required ? label : `(${label})`
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
  const table = rows.length
    ? `\n\n| Parameter | Value | Default | What it is |\n| --- | --- | --- | --- |\n${rows.join('\n')}`
    : ''
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
