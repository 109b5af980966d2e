import {type Unchecked, unchecked} from './client.ts'
import type {Environment} from './environment.ts'
import {usageFault} from './fault.ts'
import {fileText} from './options.ts'

/** Reads a file, or stdin for `-`: JSON or YAML. Its content is not echoed, for it may be secret. */
export async function structuredFrom(world: Environment, path: string, option: string): Promise<Unchecked> {
  const [text, source] =
    path === '-' ? [await world.readStdin(), 'What stdin holds'] : [fileText(world, path, option), `What ${path} holds`]
  return unchecked(await structured(text, source))
}

/**
 * A config as it is named on the command line: the slug of a saved one, or what a file holds, whose name has a dot or a
 * slash.
 */
export async function configFrom(world: Environment, named: string, option: string): Promise<string | Unchecked> {
  return named === '-' || /[./\\]/.test(named) ? structuredFrom(world, named, option) : named
}

async function structured(text: string, source: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // YAML then, of which JSON is a part
  }
  const {LineCounter, parseDocument} = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, {prettyErrors: false, lineCounter: lines})
  const [wrong] = document.errors
  if (wrong)
    throw usageFault(
      `${source} is neither JSON nor YAML: line ${lines.linePos(wrong.pos[0]).line} cannot be read (${wrong.code}).`,
    )
  try {
    return document.toJS({maxAliasCount: 100}) as unknown
  } catch {
    throw usageFault(`${source} repeats itself too often (YAML aliases).`)
  }
}
