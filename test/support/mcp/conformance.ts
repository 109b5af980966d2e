import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, relative, resolve} from 'node:path'
import {createInterface} from 'node:readline'

const SUITE = resolve(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** The longest that a part of the suite may take. */
export const LATEST_MS = 600_000

/** A check of the suite: its outcome, and the fault that it names. */
export interface Outcome {
  readonly status: string
  readonly fault: string | undefined
}

interface SuiteOptions {
  readonly env?: Record<string, string>
  /** Is handed each line that the suite prints; a rejection ends the suite. */
  readonly onLine?: (line: string) => Promise<void>
}

/**
 * Runs a part of the official suite, and gives the outcome of each check by `scenario check`. Of a check that is made
 * several times the worst one counts.
 */
export async function outcomesOf(
  args: readonly string[],
  {env, onLine}: SuiteOptions = {},
): Promise<ReadonlyMap<string, Outcome>> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const running = spawn(process.execPath, [SUITE, ...args, '-o', folder], {
      ...{timeout: LATEST_MS, env: {...process.env, ...env}},
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(running, 'close')
    let fault: unknown
    createInterface(running.stdout).on('line', line => {
      onLine?.(line).catch(thrown => {
        fault = thrown
        running.kill()
      })
    })
    await ended
    if (fault !== undefined) throw fault
    const outcomes = new Map<string, Outcome>()
    for (const file of filesIn(folder).filter(each => each.endsWith('checks.json'))) {
      const scenario = relative(folder, resolve(file, '..')).replace(/-\d{4}-\d{2}-\d{2}T[^/]*$/, '')
      const checks = JSON.parse(readFileSync(file, 'utf8')) as {id: string; status: string; errorMessage?: string}[]
      for (const {id, status, errorMessage} of checks) {
        const name = `${scenario} ${id}`
        const known = outcomes.get(name)
        if (!known || rankOf(status) > rankOf(known.status)) outcomes.set(name, {status, fault: errorMessage})
      }
    }
    return outcomes
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

function rankOf(status: string): number {
  return ['SKIPPED', 'INFO', 'SUCCESS', 'WARNING', 'FAILURE'].indexOf(status)
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })
}
