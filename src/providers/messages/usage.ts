import {INPUT_CLASSES, type TokenClass, totals, type Usage} from '../../schema/usage.ts'
import type {Json} from '../translation.ts'

const READ = ['cache_read_tokens', 'audio_cache_read_tokens', 'image_cache_read_tokens'] as const
const WRITTEN = ['cache_write_5m_tokens', 'cache_write_1h_tokens'] as const
const CACHED: ReadonlySet<string> = new Set([...READ, ...WRITTEN])
const FRESH = INPUT_CLASSES.filter(name => !CACHED.has(name))

/**
 * Usage in Anthropic's shape: `input_tokens` is without what was read from and written to the cache. None reported:
 * zeros.
 */
export function messageUsage(usage: Usage | null): Json {
  const sum = (names: readonly TokenClass[]) => names.reduce((total, name) => total + (usage?.[name] ?? 0), 0)
  const thinking_tokens = usage?.output_reasoning_tokens ?? 0
  return {
    input_tokens: sum(FRESH),
    cache_creation_input_tokens: sum(WRITTEN),
    cache_read_input_tokens: sum(READ),
    output_tokens: usage ? totals(usage).completion_tokens : 0,
    ...(thinking_tokens ? {output_tokens_details: {thinking_tokens}} : {}),
  }
}
