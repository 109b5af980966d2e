import type {Side} from '../schema/guardrails.ts'
import {type Edit, isList, isObject, type JsonObject, type JsonPath, type JsonValue, own, withAll} from './json.ts'
import {mapJsonStrings} from './json-strings.ts'
import {type ByString, mapStrings} from './strings.ts'
import type {BodyString, View} from './view.ts'

/**
 * A call of a tool as checks see it: on the input side the `arguments`, on the output side the result, or the error in
 * its place. All of its strings are texts.
 */
export function toolView(side: Side, body: JsonValue): View {
  const map = side === 'input' ? mapData : mapOutput
  const strings: BodyString[] = []
  map(body, (text, called) => {
    strings.push({text, called, is_echo: false})
    return text
  })
  const texts = strings.map(({text}) => text)
  const view: View = {
    ...{kind: 'dialect', endpoint: 'proxy', side, body, strings, texts, text: texts.join('\n'), beside: ''},
    rewrite(by) {
      const changed = map(body, by)
      return changed === body ? view : toolView(side, changed)
    },
    withBody: put => toolView(side, put),
  }
  return view
}

/** Data that callers and tools fill as they like: each string in it, keys that are no names, and long numbers. */
function mapData(data: JsonValue, by: ByString): JsonValue {
  const held = {arguments: data}
  const mapped = mapStrings(held, 'proxy', 'input', by)
  return mapped === held ? data : own(mapped, 'arguments')!
}

/** Members of a block of content that people and models read. */
const OF_BLOCKS = ['text', 'title', 'description'] as const

function mapOutput(body: JsonValue, by: ByString): JsonValue {
  if (!isObject(body)) return body
  const edits: Edit[] = []
  const put = (path: JsonPath, value: JsonValue | undefined) => {
    if (typeof value !== 'string' || value === '') return
    const mapped = /^\s*[{[]/.test(value)
      ? mapJsonStrings(value, (text, called) => by(text, called, false))
      : by(value, '', false)
    if (mapped !== value) edits.push({path, put: mapped})
  }
  const data = (key: string) => {
    const value = own(body, key)
    if (value === undefined) return
    const mapped = mapData(value, by)
    if (mapped !== value) edits.push({path: [key], put: mapped})
  }
  const content = own(body, 'content')
  for (const [at, block] of isList(content) ? content.entries() : []) putBlock(['content', at], block, put)
  data('structuredContent')
  if (typeof own(body, 'message') === 'string') {
    put(['message'], own(body, 'message'))
    data('data')
  }
  return withAll(body, edits)
}

function putBlock(path: JsonPath, block: JsonValue, put: (path: JsonPath, value: JsonValue | undefined) => void) {
  for (const key of OF_BLOCKS) put([...path, key], own(block, key))
  const resource: JsonObject[string] | undefined = own(block, 'resource')
  for (const key of OF_BLOCKS) put([...path, 'resource', key], own(resource, key))
}
