import {readdirSync, readFileSync} from 'node:fs'
import {join, posix, resolve} from 'node:path'
import type {Command} from 'commander'
import {OPTIONS} from '../../../src/providers/option-table.ts'
import {REQUEST_HEADERS, RESPONSE_HEADERS} from '../../../src/schema/headers.ts'
import {NOT_AVAILABLE, unsupportedSetting} from '../../../src/settings/not-available.ts'
import {fileEndings, NAMES, row} from '../../../src/settings/table.ts'
import {everyCommand} from '../../cli/examples/program.ts'
import type {NameKind, PageName} from './names.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const CODE = ['src', 'cli', 'bin', 'test', 'migrations']
/** Source text ends with one of these; the name of any other file is looked for as text, since a run may make it. */
const SOURCE = /\.(ts|mjs|js|sh|md)$/
/** The list of names that are not here must not make them be here. */
const OWN = /(?:^|\/)(?:page-names\/|docs-names\.test\.ts$)/

/** Pages for people who change the code: a name in capitals may be a constant there. */
export const CODE_PAGES: ReadonlySet<string> = new Set(
  `CONTRIBUTING.md docs/architecture.md docs/rules.md docs/performance.md docs/packaging.md`.split(' '),
)

const files = [...CODE, 'docs', '.ci'].flatMap(folder =>
  readdirSync(join(ROOT, folder), {recursive: true, withFileTypes: true})
    .filter(each => each.isFile())
    .map(each => join(each.parentPath, each.name).slice(ROOT.length + 1)),
)
const paths = `\n${[...files, ...readdirSync(ROOT)].map(file => `/${file}`).join('\n')}\n`
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const texts = [
  ...files.filter(file => /\.(ts|mjs|js|sh)$/.test(file) && !file.startsWith('test/fixtures/') && !OWN.test(file)),
  'package.json',
  'install.sh',
].map(read)
/** Words, and words with hyphens. */
const words = new Set(texts.flatMap(text => text.match(/[A-Za-z_$][\w$]*(?:-[\w$]+)*/g) ?? []))
for (const word of [...words]) for (const part of word.split('-')) words.add(part)
/** Names of files that a run makes or reads. */
const made = new Set(
  texts.flatMap(text => text.match(/[\w-]+(?:\.[\w-]+)*\.(?:json|jsonl|ya?ml|txt|db|key|service|csv)\b/g) ?? []),
)
const lower = new Set([...words].filter(word => word.includes('-')).map(word => word.toLowerCase()))

const settings = new Set(
  NAMES.flatMap(name => [name, ...(row(name).also ?? []), ...fileEndings(name).map(ending => name + ending)]),
)
const own = [...Object.keys(REQUEST_HEADERS), ...Object.keys(RESPONSE_HEADERS)]
const headers = [...own, ...Object.keys(OPTIONS).map(name => name.replaceAll('_', '-'))]
const scripts = (JSON.parse(read('package.json')) as {scripts: Record<string, string>}).scripts
const [program, ...commands] = everyCommand().map(({command}) => command)
const flags = new Set([program!, ...commands].flatMap(({options}) => options.map(({long}) => long)))
/** Flags of the scripts in bin, of install.sh and of the measurements. */
const scriptFlags = new Set(
  [...files.filter(file => /^(bin|test\/(bench|mutants|simulation))\//.test(file) && SOURCE.test(file)), 'install.sh']
    .map(read)
    .flatMap(text => [
      ...(text.match(/--[a-z][\w-]*/g) ?? []),
      ...[...text.matchAll(/^\s*'?([a-z][\w-]*)'?: \{type: '/gm)].map(([, name]) => `--${name}`),
    ]),
)

/** True if a name of a page is of something that exists. */
export function isThere({kind, name}: PageName, page: string): boolean {
  return CHECKS[kind](name, page)
}

const CHECKS: Readonly<Record<NameKind, (name: string, page: string) => boolean>> = {
  file: isFile,
  link: isLink,
  identifier: isIdentifier,
  command: isCommand,
  setting: (name, page) => isSetting(name) || (CODE_PAGES.has(page) && words.has(name)),
  header: isHeader,
  flag: name => flags.has(name) || scriptFlags.has(name) || name === '--help',
}

function isIdentifier(name: string): boolean {
  if (name.split('.').every(part => words.has(part))) return true
  return lower.has(name.toLowerCase()) || isSetting(name.toUpperCase())
}

/** `<slug>`, `*` and `NNNN` are for any. A path may begin within a folder. */
function isFile(name: string): boolean {
  const pattern = name
    .replace(/\/$/, '')
    .replaceAll(/[.+$]/g, '\\$&')
    .replaceAll('*', '[^/\n]*')
    .replaceAll(/<\w+>/g, '[^/\n]+')
    .replace('NNNN', '\\d{4}')
  const isWhole = /^(src|cli|bin|test|docs|migrations|\.ci)\//.test(name)
  if (new RegExp(`${isWhole ? '\n/' : '/'}${pattern}[/\n]`).test(paths)) return true
  if (isWhole || SOURCE.test(name)) return false
  return made.has(posix.basename(name).replace(/^\./, '')) || (/^\w+\.(?:db|key)$/.test(name) && isIdentifier(name))
}

function isLink(name: string, page: string): boolean {
  if (/^[a-z]+:/.test(name)) return true
  const [path, section] = name.split('#', 2)
  const target = path === '' ? page : posix.join(posix.dirname(page), path!)
  if (!isFile(target) && !paths.includes(`\n/${target}\n`)) return false
  return section === undefined || headingsOf(read(target)).includes(section)
}

/** Headings as the addresses that a link has for them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

function isSetting(name: string): boolean {
  if (settings.has(name) || unsupportedSetting(name) !== undefined) return true
  const lead = name.replace(/\*$/, '')
  if (NOT_AVAILABLE.some(({variables}) => name in variables)) return true
  return lead !== name && [...settings].some(each => each.startsWith(lead))
}

function isHeader(name: string): boolean {
  const [, ours] = /^x-(?:gateway|portkey)-(.*)$/.exec(name) ?? []
  if (ours === '') return true
  if (ours === undefined) return [...lower].some(each => each === name || (name.endsWith('-') && each.startsWith(name)))
  return ours.endsWith('-') ? headers.some(each => each.startsWith(ours)) : headers.includes(ours)
}

/** The words lead to a command, and the flags are those of it and of those above it. */
function isCommand(text: string): boolean {
  const [, script] = /^npm run (\w+)/.exec(text) ?? []
  if (script !== undefined) return script in scripts
  const unquoted = text.replace(/'[^']*'|"[^"]*"/g, 'TEXT').replace(/^help /, '')
  let at: Command = program!
  const known = optionsOf(at)
  for (const word of unquoted.split(/[\s[\]]+/)) {
    if (at.commands.length === 0 || !/^[a-z][a-z|-]*$/.test(word)) break
    const next = word
      .split('|')
      .map(each => at.commands.find(one => one.name() === each || one.aliases().includes(each)))
    if (next.includes(undefined) && word !== 'help') return false
    at = next[0] ?? at
    known.push(...optionsOf(at))
  }
  // fields of an operation are flags of this one
  if (at.name() === 'api') return true
  return (unquoted.match(/(?<![\w-])--[a-z][\w-]*/g) ?? []).every(flag => known.includes(flag))
}

function optionsOf(command: Command): string[] {
  return ['--help', ...command.options.flatMap(({long}) => (long ? [long] : []))]
}
