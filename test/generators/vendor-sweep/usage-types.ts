import {globSync, readFileSync} from 'node:fs'
import {join} from 'node:path'

/** A type of a client as far as usage needs it: its members, with their types as text. */
export interface DeclaredType {
  readonly members: ReadonlyMap<string, string>
  /** Of an alias. */
  readonly is: string | null
}

/** A usage that a reply may hold: the member that it is, and its type. */
export interface UsagePlace {
  readonly member: string
  readonly type: string
}

const MODULES = join(import.meta.dirname, '../../../node_modules')
/** Where each client declares its types; what concerns an organisation's reports is no usage of a call. */
const FILES = {
  openai: {pattern: 'openai/src/resources/**/*.ts', without: /resources\/admin/},
  anthropic: {pattern: '@anthropic-ai/sdk/src/resources/**/*.ts', without: /resources\/(?:beta\/)?organization/},
  google: {pattern: '@google/genai/dist/*.d.ts', without: /^$/},
} as const
export const CLIENTS = Object.keys(FILES) as readonly (keyof typeof FILES)[]

/** By name, with its namespaces. */
export function declaredTypes(client: keyof typeof FILES): ReadonlyMap<string, DeclaredType> {
  const {pattern, without} = FILES[client]
  const types = new Map<string, DeclaredType>()
  for (const file of globSync(pattern, {cwd: MODULES}).toSorted())
    if (!without.test(file))
      for (const [name, type] of typesIn(readFileSync(join(MODULES, file), 'utf8'))) types.set(name, type)
  return types
}

const BLOCK =
  /^(\s*)(?:export )?(?:declare )?(namespace|interface|class|type|enum) (\w+\$?)(?:<[^>]*>)?(?: extends [^{]+| implements [^{]+)?(?: =)? \{$/
const ALIAS = /^(\s*)(?:export )?(?:declare )?type (\w+\$?) =(.*)$/
const MEMBER = /^\s*(?:readonly )?(\w+)\??: (.*)$/
const VALUE = /^\s*\w+ = "(\w+)",?$/

/** Read by lines, as generated files are written: a block ends at the brace that stands where it began. */
function typesIn(text: string): ReadonlyMap<string, DeclaredType> {
  const types = new Map<string, DeclaredType>()
  const open: {indent: string; kind: string; name: string; members: Map<string, string>; values: string[]}[] = []
  const lines = text
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .split(/\r?\n/)
    .filter(line => line.trim() !== '')
  const path = (name: string) =>
    [...open.filter(({kind}) => kind === 'namespace').map(each => each.name), name].join('.')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const block = BLOCK.exec(line)
    if (block) open.push({indent: block[1]!, kind: block[2]!, name: block[3]!, members: new Map(), values: []})
    else if (open.length > 0 && line.startsWith(`${open.at(-1)!.indent}}`)) {
      const {kind, name, members, values} = open.pop()!
      if (kind === 'enum') types.set(path(name), {members, is: values.map(value => `'${value}'`).join(' | ')})
      else if (kind !== 'namespace') types.set(path(name), {members, is: null})
    } else {
      const whole = () => {
        let said = lines[at]!
        while (!/;$/.test(said) && at + 1 < lines.length) said += ` ${lines[++at]!.trim()}`
        return said
      }
      const alias = ALIAS.exec(line)
      if (alias) types.set(path(alias[2]!), {members: new Map(), is: /=(.*);$/s.exec(whole())?.[1]?.trim() ?? ''})
      else if (open.at(-1)?.kind === 'enum') open.at(-1)!.values.push(...(VALUE.exec(line)?.slice(1) ?? []))
      else if (MEMBER.test(line) && open.length > 0) {
        const [, name, type] = MEMBER.exec(whole())!
        if (open.at(-1)!.kind !== 'namespace') open.at(-1)!.members.set(name!, type!.replace(/;$/, ''))
      }
    }
  }
  return types
}

/** Every usage in a type that is none itself. */
export function usagePlaces(types: ReadonlyMap<string, DeclaredType>): readonly UsagePlace[] {
  const places = new Map<string, UsagePlace>()
  for (const [owner, {members}] of types) {
    if (/Usage/.test(owner)) continue
    for (const [member, text] of members) {
      if (!/usage/i.test(member) || /^['"]/.test(text)) continue
      for (const name of namesIn(text)) {
        const type = resolve(types, owner, name)
        if (type) places.set(`${member} ${type}`, {member, type})
      }
    }
  }
  return [...places.values()]
}

export interface UsageMember {
  /** `prompt_tokens_details.cached_tokens`; of a list, its entries' member. */
  readonly path: readonly string[]
  /** Null for a number; else the texts that it may be. */
  readonly texts: readonly string[] | null
  /** True where the value stands in a list. */
  readonly in_list: readonly boolean[]
}

/** Members of a usage at any depth: numbers, and texts of which the type tells all. */
export function membersOf(types: ReadonlyMap<string, DeclaredType>, type: string, depth = 0): readonly UsageMember[] {
  const {members = new Map<string, string>(), is = null} = types.get(type) ?? {}
  if (depth > 4) return []
  if (is !== null) return namesIn(is).flatMap(name => membersOf(types, resolve(types, type, name) ?? '', depth + 1))
  return [...members].flatMap(([name, text]): readonly UsageMember[] => {
    const is_list = /Array<|\[\]/.test(text) || isListAlias(types, type, text)
    if (/\bnumber\b/.test(text)) return [{path: [name], texts: null, in_list: [is_list]}]
    const texts = textsOf(types, type, text)
    if (texts.length > 0) return [{path: [name], texts, in_list: [is_list]}]
    const inner = namesIn(text).flatMap(each => membersOf(types, resolve(types, type, each) ?? '', depth + 1))
    return inner.map(({path, texts, in_list}) => ({path: [name, ...path], texts, in_list: [is_list, ...in_list]}))
  })
}

function isListAlias(types: ReadonlyMap<string, DeclaredType>, owner: string, text: string): boolean {
  return namesIn(text).some(name => /^Array<|\[\]$/.test(types.get(resolve(types, owner, name) ?? '')?.is ?? ''))
}

function textsOf(types: ReadonlyMap<string, DeclaredType>, owner: string, text: string): readonly string[] {
  const own = [...text.matchAll(/'([^']*)'/g)].map(([, value]) => value!)
  if (own.length > 0) return own
  return namesIn(text).flatMap(name => {
    const is = types.get(resolve(types, owner, name) ?? '')?.is
    return is ? [...is.matchAll(/'([^']*)'/g)].map(([, value]) => value!) : []
  })
}

/** Names of types in a type's text. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:[A-Za-z]\w*\.)*[A-Z]\w*\$?/g)].map(([name]) => name).filter(name => name !== 'Array')
}

/** As it is from inside `owner`: nearest namespace first, an imported module's name dropped. */
function resolve(types: ReadonlyMap<string, DeclaredType>, owner: string, name: string): string | null {
  const scopes = owner.split('.')
  const bare = name.replace(/^\w+(?:API|_2)\./, '')
  for (let depth = scopes.length; depth >= 0; depth--) {
    const full = [...scopes.slice(0, depth), bare].join('.')
    if (full !== owner && types.has(full)) return full
  }
  return null
}
