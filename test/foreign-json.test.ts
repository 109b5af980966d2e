import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {recursionsIn} from './support/recursion.ts'

/**
 * JSON of others is parsed by one function, `parseJson`, which refuses what is nested too deep; what walks its values
 * may call itself then. Each exception stands here with its reason.
 */
const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const code = readdirSync(src, {recursive: true, encoding: 'utf8'})
  .filter(name => name.endsWith('.ts'))
  .map(name => ({file: relative(root, join(src, name)), text: readFileSync(join(src, name), 'utf8')}))

const COLUMN = 'columns that the gateway wrote itself'
const STRING = 'one string, which has no depth'
/** Files or folders with a `JSON.parse` of their own. */
const PARSES: Readonly<Record<string, string>> = {
  'src/base/json-object.ts': 'the parser',
  'src/base/json-keys.ts': STRING,
  'src/base/json-strings.ts': STRING,
  'src/base/json.ts': STRING,
  'src/cache/canonical.ts': STRING,
  'src/guardrails/json-strings.ts': STRING,
  'src/guardrails/json-text.ts': 'strings, numbers and words; what holds them is counted beside',
  'src/base/runtime.ts': 'package.json',
  'src/identity/api-keys.ts': COLUMN,
  'src/identity/docs-page.ts': 'a table of the code',
  'src/admin/json-bodies.ts': 'a body whose depth was checked in the line before',
  'src/proxy/inbound/body.ts': 'a body whose depth was checked when its top level was read',
  'src/proxy/guardrails/stream-text.ts': 'an answer that the gateway put together of events it had parsed',
  'src/store/bodies/object.ts': 'whether it is JSON; nothing walks what comes of it',
  'src/app/operator-server.ts': 'the reply of an operation of ours',
  'src/pricing/installed.ts': COLUMN,
  'src/limits/policy-lookup.ts': COLUMN,
  'src/proxy/lookups/': COLUMN,
  'src/schema/deferred.ts': COLUMN,
  'src/schema/limits.ts': COLUMN,
  'src/schema/model-lists.ts': COLUMN,
  'src/schema/mcp-virtual.ts': COLUMN,
  'src/schema/organisation-auth.ts': COLUMN,
  'src/scim/filter/lex.ts': 'one text of a filter, which has 4 KB',
  'src/scim/group-view.ts': COLUMN,
  'src/scim/groups.ts': COLUMN,
  'src/scim/http.ts': 'its depth is checked before',
  'src/scim/user-view.ts': COLUMN,
  'src/schema/organisations.ts': COLUMN,
  'src/identity/connections.ts': COLUMN,
  'src/identity/admission/invites.ts': COLUMN,
  'src/mcp/sessions/sessions.ts': COLUMN,
  'src/oauth/clients/': COLUMN,
  'src/sign-in/http.ts': 'its depth is checked before',
  'src/sign-in/command-codes.ts': 'a word of 2 KB, of which four members are read',
  'src/sign-in/transactions.ts': COLUMN,
  'src/sign-in/routes/saml.ts': COLUMN,
  'src/admin/': COLUMN,
  'src/store/': COLUMN,
  'src/mcp/credentials/': COLUMN,
  'src/workers/': COLUMN,
}

test('JSON of others is parsed by the function that bounds its depth', () => {
  const parsing = code.filter(({text}) => /(?<!`)JSON\.parse\(/.test(text)).map(({file}) => file)
  expect(
    parsing.filter(
      file => !Object.keys(PARSES).some(known => file === known || (known.endsWith('/') && file.startsWith(known))),
    ),
  ).toEqual([])
  expect(Object.keys(PARSES).filter(known => !parsing.some(file => file.startsWith(known)))).toEqual([])
})

const PARSED = 'its JSON came through `parseJson`, or is a body whose depth was checked'
const COUNTED = 'counts its depth'
const OURS = 'its values are made by code'
const NAMESAKE = 'the name means something else within it'
const ANOTHER = 'another view, when it is asked for'
/** Functions that call themselves over JSON, by file. */
const WALKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/admin/audit.ts': {masked: PARSED},
  'src/admin/mcp/connection.ts': {shown: PARSED},
  'src/admin/openapi/examples.ts': {exampleOf: OURS, fits: OURS, fitsMembers: OURS, recordOf: OURS},
  'src/admin/openapi/schemas.ts': {maybe: OURS},
  'src/base/json-difference.ts': {compare: PARSED},
  'src/base/json-keys.ts': {countKeys: 'the depth of its text is counted before'},
  'src/base/json-splice.ts': {spliced: PARSED, splicedList: PARSED, splicedObject: PARSED},
  'src/base/log.ts': {plainFault: OURS},
  'src/cache/merge.ts': {
    mergeDelta: PARSED,
    mergeItem: PARSED,
    merged: PARSED,
    mergedList: PARSED,
    mergedObject: PARSED,
  },
  'src/guardrails/event-texts.ts': {below: COUNTED, hasSound: COUNTED, within: COUNTED},
  'src/guardrails/docs-page.ts': {rowsOf: OURS, typed: OURS},
  'src/guardrails/json-schema/canonical.ts': {canonical: COUNTED},
  'src/guardrails/json-schema/read.ts': {keyword: COUNTED, visit: COUNTED},
  'src/guardrails/json-text.ts': {write: PARSED},
  'src/guardrails/lists.ts': {quoted: NAMESAKE},
  'src/guardrails/partners/bedrock.ts': {actions: COUNTED},
  'src/guardrails/pii/restore.ts': {restoreBody: COUNTED},
  'src/guardrails/prefix.ts': {hasText: PARSED},
  'src/guardrails/saved.ts': {masked: 'one level of members alone'},
  'src/guardrails/strings.ts': {list: COUNTED, members: COUNTED, value: COUNTED, rebuilt: NAMESAKE, free: NAMESAKE},
  'src/guardrails/texts.ts': {content: COUNTED},
  'src/guardrails/tool-view.ts': {toolView: ANOTHER, mapData: NAMESAKE},
  'src/guardrails/view.ts': {viewOf: ANOTHER, dialectView: ANOTHER, emptyView: ANOTHER, everyStringView: ANOTHER},
  'src/mcp/held/request-state.ts': {canonical: 'params of a message, which has 64 levels'},
  'src/identity/oidc/groups.ts': {memberAt: COUNTED},
  'src/mcp/content/pins.ts': {canonicalJson: PARSED},
  'src/mcp/content/suspicions.ts': {textsIn: PARSED},
  'src/pricing/calculate.ts': {readFormula: COUNTED},
  'src/pricing/list.ts': {sorted: PARSED},
  'src/prompts/prompt.ts': {treeOf: COUNTED, filled: 'trees of `treeOf`', walk: 'trees of `treeOf`'},
  'src/providers/anthropic/limits.ts': {marksOf: PARSED, unmarked: PARSED},
  'src/providers/anthropic/output-schema.ts': {checkReferences: PARSED, inSubset: PARSED},
  'src/providers/fit/schemas.ts': {isStrictSchema: PARSED, withItems: PARSED},
  'src/providers/gemini/candidate.ts': {'this.called': 'the same call once more, when it is whole'},
  'src/providers/gemini/schema.ts': {
    cleanAnyOf: COUNTED,
    clean: COUNTED,
    down: COUNTED,
    cleanNode: COUNTED,
    resolveRef: COUNTED,
  },
  'src/providers/messages/count.ts': {add: COUNTED, addBlock: COUNTED},
  'src/providers/messages/parts.ts': {document: PARSED, nested: PARSED, partsOf: PARSED},
  'src/providers/openai/tokens.ts': {hear: COUNTED},
  'src/providers/oracle/request.ts': {chatRequest: NAMESAKE},
  'src/providers/unified/fault.ts': {wordsOf: COUNTED},
  'src/providers/unknown-members.ts': {look: COUNTED, within: COUNTED},
  'src/guardrails/nested-pieces.ts': {walk: COUNTED},
  'src/proxy/guardrails/stream-strings.ts': {withoutLogprobs: PARSED},
  'src/proxy/tool-runs/dialect.ts': {summed: PARSED},
  'src/proxy/realtime/judging/without-words.ts': {numbersOf: PARSED},
  'src/routing/params.ts': {without: 'as deep as a path in a config'},
  'src/schema/changes.ts': {changesBetween: PARSED},
  'src/scim/filter/matches.ts': {matches: 'as deep as a filter, which has 20 levels'},
  'src/scim/patch/read.ts': {exploded: 'one level of members alone'},
  'src/schema/config-conditions.ts': {parseEntry: COUNTED, parseQuery: COUNTED},
  'src/schema/config-hooks.ts': {within: PARSED},
  'src/schema/config-node.ts': {readNode: COUNTED},
  'src/schema/config-readers.ts': {isJson: COUNTED},
  'src/schema/nul.ts': {findNul: PARSED},
  'src/schema/secrets.ts': {hasMask: PARSED, maskAll: PARSED, restored: PARSED},
  'src/schema/validation-message.ts': {forms: OURS},
  'src/telemetry/ingest/read-json.ts': {anyValue: COUNTED, members: COUNTED},
  'src/store/dialect/postgres-faults.ts': {codeOf: 'causes of an error, which are made by code'},
  'src/store/feedback.ts': {is_said: OURS},
  'src/store/journal/disk-space.ts': {'this.fail': NAMESAKE},
  'src/workers/flusher.ts': {'this.applyRefused': 'slices of the journal, no JSON'},
}

test('what calls itself over JSON has a bound', () => {
  const over_json = /\b(?:unknown|object|Json\w*|RawObject|Schema|Tree)\b/
  const walks = code.flatMap(({file, text}) =>
    recursionsIn(text)
      .filter(({parameters}) => over_json.test(parameters))
      .map(({name}) => `${file} ${name}`),
  )
  const known = Object.entries(WALKS).flatMap(([file, names]) => Object.keys(names).map(name => `${file} ${name}`))
  expect(walks.toSorted()).toEqual(known.toSorted())
})

test('text of others goes into a URL by the function that refuses half a character', () => {
  const encoding = code.filter(
    ({file, text}) => file.startsWith('src/providers/') && text.includes('encodeURIComponent'),
  )
  expect(encoding.map(({file}) => file)).toEqual([])
})
