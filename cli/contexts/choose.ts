import {existsSync} from 'node:fs'
import {resolve} from 'node:path'
import type {Origins, Settings} from '../../src/settings/index.ts'
import {usageFault} from '../fault.ts'
import {type ContextVariables, contextNamed, type GatewayContext, readContexts} from './file.ts'

/** The parts of a command line that say where it works. */
export interface ContextChoice {
  readonly options: {readonly context?: string; readonly dataDir?: string; readonly url?: string}
  readonly env: ContextVariables
  /** GATEWAY_CONTEXT. */
  readonly named: string | undefined
  settings(): Promise<{readonly settings: Settings; readonly origins: Origins}>
}

/**
 * The context that a command works in: the one that is named, else the current one where nothing nearer is. Undefined
 * where a flag, the environment or the usual data directory says it, or nothing does.
 */
export async function chosenContext(choice: ContextChoice): Promise<GatewayContext | undefined> {
  const {options, env, named} = choice
  const place = options.url === undefined ? '--data-dir' : '--url'
  const has_place = options.url !== undefined || options.dataDir !== undefined
  if (has_place && options.context !== undefined) throw usageFault(`--context and ${place} are both given; keep one.`)
  if (has_place) return undefined
  const name = options.context ?? (named || undefined)
  if (name !== undefined) return contextNamed(await readContexts(env), name)
  const {settings, origins} = await choice.settings()
  if (settings.url !== undefined || origins.GATEWAY_DATA_DIR !== 'default') return undefined
  if (existsSync(resolve(settings.data_dir))) return undefined
  const contexts = await readContexts(env)
  return contexts.current === null ? undefined : contextNamed(contexts, contexts.current)
}
