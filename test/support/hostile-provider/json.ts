import {type Asked, type CaseTable, whole} from './reply.ts'
import {changed, TEXT, usualBody, usualJson} from './usual.ts'

/** Bodies that are no JSON, not the JSON that was asked for, or JSON that is made to hurt. */
const LISTS = ['choices', 'content', 'output', 'data', 'candidates', 'results']
const DEEP = 10_000
const MANY_CHOICES = 20_000
const nested = (levels: number, open: string, within: string, close: string) =>
  open.repeat(levels) + within + close.repeat(levels)

/** The usual body with one more member in front of its end. */
const withMember = (member: string) => {
  return (asked: Asked) => changed(asked, json => json.replace(/\}(?=\s*$)/, `,${member}}`))
}

/** The usual body with its lists put through `change`. */
const withLists = (change: (list: unknown) => unknown) => {
  return (asked: Asked) => {
    const entries = Object.entries(usualBody(asked)).map(([name, value]) => [
      name,
      LISTS.includes(name) ? change(value) : value,
    ])
    return whole(JSON.stringify(Object.fromEntries(entries)))
  }
}

const replaced = (from: string | RegExp, to: string) => {
  return (asked: Asked) =>
    changed(asked, json => json.replaceAll(from instanceof RegExp ? new RegExp(from, 'g') : from, to))
}

export const JSONS: CaseTable = {
  'json-null': () => whole('null'),
  'json-number': () => whole('42'),
  'json-text': () => whole('"x"'),
  'json-list': () => whole('[]'),
  'json-empty-object': () => whole('{}'),
  'json-list-of-answers': asked => whole(`[${usualJson(asked)}]`),
  'json-twice': asked => whole(usualJson(asked).repeat(2)),
  'json-cut': asked => whole(usualJson(asked).slice(0, -15)),
  'json-words': () => whole('the model is busy'),
  'json-with-comment': asked => whole(`${usualJson(asked)} // done`),
  'json-of-spaces': () => whole(' '.repeat(1_000_000)),
  'json-of-16-mb': asked => whole(`${usualJson(asked).slice(0, -1)},"pad":"${'a'.repeat(16 << 20)}"}`),
  'body-empty': () => whole(''),
  'deep-list': withMember(`"x":${nested(DEEP, '[', '1', ']')}`),
  'deep-object': withMember(`"x":${nested(DEEP, '{"a":', '1', '}')}`),
  'deep-content': replaced(/"content":/, `"content":${nested(DEEP, '{"content":[', '1', ']}')},"was":`),
  'deep-and-open': () => whole('['.repeat(100_000)),
  'deep-200': withMember(`"x":${nested(200, '{"message":', '"y"', '}')}`),
  'keys-twice': withMember(
    '"usage":{"prompt_tokens":1},"usage":{"prompt_tokens":999999,"completion_tokens":9},"model":"x","model":"y"',
  ),
  'keys-of-prototype': withMember(
    '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"hasOwnProperty":1,"toString":2',
  ),
  'keys-30000': withMember(Array.from({length: 30_000}, (_, at) => `"k${at}":${at}`).join(',')),
  'surrogate-alone': replaced(TEXT, 'a\\ud800b\\udc00'),
  'surrogate-in-model': replaced('"model":"m"', '"model":"m\\udfff"'),
  'nul-in-text': replaced(/Wien|aus /, 'a\\u0000b'),
  'nul-in-model': replaced('"model":"m"', '"model":"m\\u0000"'),
  'nul-raw': replaced(/Wien|aus /, 'a\0b'),
  'model-of-100-kb': replaced('"model":"m"', `"model":"${'m'.repeat(100_000)}"`),
  'id-of-wrong-kinds': replaced(/"(?:id|object|role)":"[^"]*"/, '"id":[{"a":1}],"object":5,"role":{}'),
  'numbers-beyond-all': replaced(/"(?:created|created_at|index)":\d+/, '"created":1e400,"index":1e400'),
  'lists-null': withLists(() => null),
  'lists-empty': withLists(() => []),
  'lists-as-texts': withLists(() => 'x'),
  'lists-as-objects': withLists(() => ({0: {}, length: 4_294_967_295})),
  'lists-of-oddities': withLists(() => [
    null,
    5,
    'x',
    [],
    {},
    {message: null},
    {message: {content: 7, tool_calls: [null]}},
  ]),
  'choices-20000': withLists(list =>
    Array.isArray(list) ? Array.from({length: MANY_CHOICES}, () => list[0] as unknown) : list,
  ),
}
