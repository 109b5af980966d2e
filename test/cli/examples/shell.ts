/** A line of a shell that runs gateway once, as far as examples use one. */
export interface Line {
  /** Environment that is said before the command. */
  readonly env: Readonly<Record<string, string>>
  readonly argv: readonly string[]
  /** What goes into its stdin. */
  readonly input: {readonly text: string} | {readonly file: string} | undefined
  /** True where its stdout goes into a file, a variable or another program. */
  readonly is_taken: boolean
}

type Word = {readonly text: string} | {readonly operator: string}

/** Words and operators of a line; quotes keep a word together, and `#` after a space begins a remark. */
function words(line: string): Word[] {
  const found: Word[] = []
  const token = /\s*(?:(#.*$)|(\|\||&&|>>?|<\(|[|<;])|((?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"|<>;\\])+))/gy
  for (let match = token.exec(line); match; match = token.exec(line)) {
    const [whole, remark, operator, word] = match
    if (remark !== undefined && (/^\s/.test(whole) || match.index === 0)) break
    if (operator !== undefined) found.push({operator})
    else found.push({text: unquoted(word ?? remark!)})
  }
  return found
}

function unquoted(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
    (_, single, double, escaped) => single ?? double?.replace(/\\(.)/g, '$1') ?? escaped,
  )
}

/** The line; undefined where none of its commands is gateway. */
export function readLine(line: string): Line | undefined {
  const inner = /^\s*(?:[A-Z_]+=)?\$\((.*)\)\s*(?:#.*)?$/.exec(line)?.[1] ?? /^\s*source <\((.*)\)\s*$/.exec(line)?.[1]
  const all = words(inner ?? line)
  const parts: Word[][] = [[]]
  for (const word of all)
    if ('operator' in word && word.operator === '|') parts.push([])
    else parts.at(-1)!.push(word)
  const at = parts.findIndex(part => textsOf(part).find(text => !isSetting(text)) === 'gateway')
  const own = parts[at]
  if (!own) return undefined
  const redirected = (operator: string) => {
    const index = own.findIndex(word => 'operator' in word && word.operator === operator)
    const next = own[index + 1]
    return index >= 0 && next && 'text' in next ? next.text : undefined
  }
  const from = redirected('<')
  const to = redirected('>')
  const texts = textsOf(own).filter(text => text !== from && text !== to)
  const start = texts.indexOf('gateway')
  const env = Object.fromEntries(
    texts.slice(0, start).map(text => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  )
  return {
    env,
    argv: texts.slice(start + 1),
    input: from === undefined ? inputOf(parts[at - 1]) : {file: from},
    is_taken: inner !== undefined || to !== undefined || at < parts.length - 1,
  }
}

function textsOf(part: readonly Word[]): string[] {
  return part.flatMap(word => ('text' in word ? [word.text] : []))
}

function isSetting(text: string): boolean {
  return /^[A-Z_]+=/.test(text)
}

/** What the command before a pipe says; a secret from a vault is one. */
function inputOf(before: readonly Word[] | undefined): Line['input'] {
  if (!before) return undefined
  const [command, ...rest] = textsOf(before)
  if (command === 'echo') return {text: `${rest.join(' ')}\n`}
  if (command === 'cat') return {file: rest[0]!}
  if (command === 'vault') return {text: 'sk-of-a-vault-0123456789\n'}
  throw new Error(`No example pipes ${command} into gateway yet: say in inputOf what it gives.`)
}
