import {join} from 'node:path'
import {isObject} from '../src/base/json-object.ts'
import type {Settings} from '../src/settings/index.ts'
import {type Unchecked, unchecked} from './client.ts'
import type {Environment} from './environment.ts'
import {CommandFault, EXIT, fileReason, usageFault} from './fault.ts'
import {readJson} from './option-parsers.ts'
import type {Progress} from './progress.ts'

/**
 * The content of a source of prices: a list, or a signed bundle of one. `origin` is shown to people, without
 * credentials.
 */
export type PriceSource =
  | {readonly kind: 'list'; readonly prices: Unchecked; readonly origin: string}
  | {readonly kind: 'bundle'; readonly bundle: Unchecked; readonly origin: string}

const LIST = 'gateway-prices/1'
const BUNDLE = 'gateway-bundle/1'
const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/
const MAX_BYTES = 64 * 1024 * 1024
const PATIENCE_MS = 30_000

interface SourceAccess {
  /** Providers to ask a pricing service for. */
  readonly providers: readonly string[]
  readonly progress: Progress
  readonly settings: Pick<Settings, 'http_proxy' | 'https_proxy' | 'no_proxy'>
}

/** Reads a source: a URL, a directory of `{provider}.json`, or a file that holds a list or a bundle. */
export async function readSource(world: Environment, source: string, request: SourceAccess): Promise<PriceSource> {
  if (/^https?:\/\//i.test(source)) return readUrl(source, request)
  if (request.providers.length) throw usageFault('--provider is for a URL that holds /pricing/{provider}.')
  let names: readonly string[] | undefined
  try {
    names = world.listFolder(source)
  } catch (cause) {
    throw usageFault(`${source} cannot be read: ${fileReason(cause)}.`)
  }
  return names
    ? readFolder(world, source, names, request.progress)
    : documentOf(readFile(world, source), source, source)
}

function readFolder(world: Environment, folder: string, names: readonly string[], progress: Progress): PriceSource {
  const slugs = names
    .filter(name => name.endsWith('.json'))
    .map(name => name.slice(0, -'.json'.length))
    .sort()
  const strange = slugs.find(slug => !SLUG.test(slug))
  if (strange !== undefined) throw usageFault(`${join(folder, `${strange}.json`)} is not called after a provider.`)
  if (!slugs.length) throw usageFault(`${folder} holds no {provider}.json.`)
  const providers: Record<string, Readonly<Record<string, unknown>>> = {}
  for (const [at, slug] of slugs.entries()) {
    progress.step(at, slugs.length, slug)
    const file = join(folder, `${slug}.json`)
    providers[slug] = rowsIn(readJson(readFile(world, file), `What ${file} holds`), file)
  }
  return {kind: 'list', prices: unchecked({format: LIST, providers}), origin: folder}
}

function readFile(world: Environment, file: string): string {
  try {
    return world.readFile(file)
  } catch (cause) {
    throw usageFault(`${file} cannot be read: ${fileReason(cause)}.`)
  }
}

async function readUrl(url: string, {providers, progress, settings}: SourceAccess): Promise<PriceSource> {
  const origin = shown(url)
  const {EnvHttpProxyAgent} = await import('undici')
  const {http_proxy: httpProxy, https_proxy: httpsProxy, no_proxy} = settings
  const dispatcher = new EnvHttpProxyAgent({
    ...(httpProxy && {httpProxy}),
    ...(httpsProxy && {httpsProxy}),
    noProxy: no_proxy.join(','),
    maxResponseSize: MAX_BYTES,
  })
  const get = async (place: string) => {
    const {request} = await import('undici')
    try {
      const reply = await request(place, {
        dispatcher,
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {accept: 'application/json'},
      })
      return {status: reply.statusCode, text: await reply.body.text()}
    } catch (cause) {
      throw failed(
        `${shown(place)} could not be read: ${cause instanceof Error ? cause.message || cause.name : String(cause)}.`,
        cause,
      )
    }
  }
  try {
    if (!providers.length) {
      progress.step(0, 1, origin)
      const {status, text} = await get(url)
      if (status !== 200) throw failed(`${origin} answered ${status}.`)
      return documentOf(text, origin, origin)
    }
    const root = `${url.replace(/\/+$/, '')}/pricing`
    const found: Record<string, Readonly<Record<string, unknown>>> = {}
    for (const [at, slug] of providers.entries()) {
      progress.step(at, providers.length, slug)
      const replies = [await get(`${root}/${slug}`)]
      if (replies[0]!.status === 404) replies.push(await get(`${root}/${slug}.json`))
      const {status, text} = replies.at(-1)!
      if (status !== 200) throw failed(`${shown(root)}/${slug} answered ${status}.`)
      found[slug] = rowsIn(readJson(text, `What ${shown(root)}/${slug} holds`), `${shown(root)}/${slug}`)
    }
    return {kind: 'list', prices: unchecked({format: LIST, providers: found}), origin}
  } finally {
    await dispatcher.destroy()
  }
}

function documentOf(text: string, place: string, origin: string): PriceSource {
  const parsed = unchecked(readJson(text, `What ${place} holds`))
  const format = typeof parsed === 'object' && parsed !== null && 'format' in parsed ? parsed.format : undefined
  if (format === BUNDLE) return {kind: 'bundle', bundle: parsed, origin}
  if (format === LIST) return {kind: 'list', prices: parsed, origin}
  throw usageFault(`${place} holds neither a list of prices (${LIST}) nor a bundle (${BUNDLE}).`)
}

function rowsIn(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw usageFault(`${place} should hold an object of models.`)
}

/** A URL without its user, password and query, which may be secret. */
function shown(url: string): string {
  const {protocol, host, pathname} = new URL(url)
  return `${protocol}//${host}${pathname}`.slice(0, 255)
}

function failed(message: string, cause?: unknown): CommandFault {
  return new CommandFault(message, {exit: EXIT.failure, code: 'unreachable', cause})
}
