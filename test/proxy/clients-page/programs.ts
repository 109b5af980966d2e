import {spawn, spawnSync} from 'node:child_process'
import {existsSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {RING} from '../../support/ring.ts'
import {ADDRESS, KEY, type Snippet} from './page.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DEADLINE_MS = 60_000
/** Languages of snippets that are programs, each read from stdin. */
const PROGRAMS: Readonly<Record<string, readonly [command: string, ...argv: string[]]>> = {
  js: [process.execPath, '--input-type=module'],
  python: ['python3', '-'],
  sh: ['sh'],
}

const {devDependencies} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>
}

export function isProgram({language}: Snippet): boolean {
  return language in PROGRAMS
}

/** The reason that a snippet is not run here; null where it is. */
export function reasonNotToRun({language}: Snippet, packages: readonly string[]): string | null {
  if (language === 'sh') return hasCommand('curl', '--version') ? null : 'curl is not installed'
  const foreign = language === 'js' ? packages.filter(name => !(name in devDependencies)) : packages
  if (foreign.length === 0) return null
  const isThere = language === 'js' ? isInstalled : isImportable
  if (RING !== 'full') return `${foreign.join(', ')}: the full ring alone runs it`
  const missing = foreign.filter(name => !isThere(name))
  return missing.length > 0 ? `${missing.join(', ')}: not installed` : null
}

export interface ProgramEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a snippet as it is, but for the address and the key. */
export function runSnippet({language, code}: Snippet, url: string, key: string, folder: string): Promise<ProgramEnd> {
  const [command, ...argv] = PROGRAMS[language]!
  const child = spawn(command, argv, {
    // where packages are found
    cwd: ROOT,
    env: {PATH: process.env.PATH, HOME: folder},
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  })
  const output = {stdout: '', stderr: ''}
  child.stdout.on('data', part => (output.stdout += String(part)))
  child.stderr.on('data', part => (output.stderr += String(part)))
  child.stdin.end(code.replaceAll(ADDRESS, url).replaceAll(KEY, key))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', status => resolve({code: status, ...output}))
  })
}

function isInstalled(name: string): boolean {
  return existsSync(join(ROOT, 'node_modules', name, 'package.json'))
}

function isImportable(name: string): boolean {
  return hasCommand('python3', '-c', `import ${name}`)
}

function hasCommand(command: string, ...argv: string[]): boolean {
  return spawnSync(command, argv, {stdio: 'ignore', timeout: DEADLINE_MS}).status === 0
}
