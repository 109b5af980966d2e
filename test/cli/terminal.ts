import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {onTestFinished} from 'vitest'
import type {Environment} from '../../cli/environment.ts'
import {main} from '../../cli/index.ts'
import {type Said, type Surroundings, worldOf} from './support.ts'

export interface AtTerminal extends Surroundings {
  /** stderr is a terminal. */
  readonly is_terminal?: boolean
  /** Called in place of waiting; the rest of a wait that it leaves open lasts until it is stopped. */
  readonly onWait?: (ms: number, stderr: string) => Promise<unknown> | unknown
  readonly over?: Partial<Environment>
  /** The working directory; the home itself where none is named. */
  readonly cwd?: string
}

const ROOT = process.cwd()

/** A home of its own for contexts, removed after the test. */
export function home() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-home-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const root = join(folder, 'gateway')
  const files = () =>
    readdirSync(folder, {recursive: true, withFileTypes: true})
      .filter(each => each.isFile())
      .map(each => join(each.parentPath, each.name))
      .toSorted()
  return {
    folder,
    root,
    path: (...names: string[]) => join(root, ...names),
    env: {XDG_CONFIG_HOME: folder},
    files,
    text: (...names: string[]) => readFileSync(join(root, ...names), 'utf8'),
    modes: () => files().map(path => `${path.slice(root.length + 1)} ${(statSync(path).mode & 0o777).toString(8)}`),
    /** Runs a command line of this home. */
    async run(
      argv: readonly string[],
      {is_terminal = false, onWait, over, cwd = folder, ...around}: AtTerminal = {},
    ): Promise<Said> {
      const {world, said: output} = worldOf({...around, env: {XDG_CONFIG_HOME: folder, ...around.env}})
      const here: Environment = {
        ...world,
        ...(is_terminal && {stderr: {...world.stderr, isTTY: true}}),
        ...(onWait && {
          async sleep(ms: number) {
            await onWait(ms, output().stderr)
          },
        }),
        ...over,
      }
      // a data directory of the checkout would be nearer than any context
      process.chdir(cwd)
      try {
        const code = await main(argv, here)
        return {code, ...output()}
      } finally {
        process.chdir(ROOT)
      }
    },
  }
}

export type Home = ReturnType<typeof home>
