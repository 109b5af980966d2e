/** Kinds of names that a page has of the things it describes. */
export type NameKind = 'file' | 'link' | 'identifier' | 'command' | 'setting' | 'header' | 'flag'

export interface PageName {
  readonly kind: NameKind
  readonly name: string
}

const FENCE = /^ *```\w*\n([\s\S]*?)^ *```$/gm
/** An identifier, with members after dots, also of words with hyphens. A call or a value may follow. */
const IDENTIFIER = /^([A-Za-z_$][\w$]*(?:[.-][A-Za-z_$][\w$]*)*)(?:\(\w*\)|: .*|=\S+)?$/
const SETTING = /(?<![\w<.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:_\*)?(?![\w-]|\.md)/g
/** A header of ours or of a provider; a hyphen at the end is the beginning of several. */
const HEADER = /(?<![\w/-])x-[a-z][a-z0-9-]*/gi
const FLAG = /(?<![\w-])--[a-z][\w-]*/g
/** Folders of the repository: a path that begins with one is whole. */
const PATH = /(?<![\w./<-])(?:src|cli|bin|test|docs|migrations|\.ci)\/[\w.<>*/-]*[\w>*]/g
/** A path that may begin within a folder, or a file's name alone. */
const PART = /^(?:[\w<>*.-]+\/)*[\w<>*.-]+\.(?:ts|mjs|js|sh|md|json|jsonl|yaml|yml|txt|db|key|service|csv)$/
const LINK = /\]\(([^)\s]+)\)/g

/** Names of a page: in its code marks and code blocks, and settings and headers wherever they are. */
export function namesOf(text: string): PageName[] {
  const blocks = [...text.matchAll(FENCE)].map(([, block]) => block!)
  const prose = text.replace(FENCE, '')
  const spans = prose.split(/\n\s*\n|^\|/m).flatMap(part => [...part.matchAll(/`([^`]+)`/g)].map(([, span]) => span!))
  const found = [
    ...all('setting', text, SETTING),
    ...all('header', text, HEADER)
      .filter(({name}) => !/^x-(?:gateway|portkey)-[A-Z]+$/.test(name))
      .map(({kind, name}) => ({kind, name: name.toLowerCase()})),
    ...[...prose.matchAll(LINK)].map(([, name]) => ({kind: 'link' as const, name: name!})),
    ...blocks.flatMap(block => namesOfBlock(block.replaceAll(/\\\n\s*/g, ''))),
    ...spans.flatMap(span => namesOfSpan(span.replaceAll(/\s+/g, ' '))),
  ]
  return [...new Map(found.map(each => [`${each.kind} ${each.name}`, each])).values()]
}

/** Commands and paths; other flags of a block are those of programs that it calls. */
function namesOfBlock(block: string): PageName[] {
  const commands = [...block.matchAll(/(?:^|[|;&] |\$ )gateway ([^|#\n;&]+)/gm)]
  return [
    ...commands.map(([, name]) => ({kind: 'command' as const, name: name!.trim()})),
    ...all('command', block, /npm run [a-z]+/g),
    ...all('file', block, PATH),
  ]
}

function namesOfSpan(span: string): PageName[] {
  if (span.startsWith('gateway ')) return [{kind: 'command', name: span.slice('gateway '.length)}]
  const files = all('file', span, PATH)
  if (files.length > 0 || span.includes('npm run ')) return [...files, ...all('command', span, /npm run [a-z]+/g)]
  if (PART.test(span)) return [{kind: 'file', name: span}]
  if (span.startsWith('-')) return all('flag', span, FLAG)
  const [, identifier] = IDENTIFIER.exec(span) ?? []
  const isOther = identifier === undefined || all('setting', identifier, SETTING).length > 0 || /^x-/i.test(identifier)
  return isOther ? [] : [{kind: 'identifier', name: identifier}]
}

function all(kind: NameKind, text: string, pattern: RegExp): PageName[] {
  return [...text.matchAll(pattern)].map(([name]) => ({kind, name}))
}
