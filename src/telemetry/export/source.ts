import {version} from '../../base/runtime.ts'
import type {NamedValues} from '../../settings/index.ts'
import type {TelemetrySource} from '../otlp/model.ts'
import {GENERATION_NAME, type Generation} from '../semconv.ts'

/** The name of the instrumentation that makes the spans of calls. */
export const CALLS_SCOPE = 'gateway.genai'
const VERSIONS: Readonly<Record<Generation, string>> = {'1.40': '1.40.0', latest: 'latest'}

/** The source of telemetry. A resource that names its generation keeps that. */
export function sourceOf(resource: NamedValues, generation: Generation, scope: string): TelemetrySource {
  const named = {[GENERATION_NAME]: VERSIONS[generation], 'service.version': version, ...resource}
  return {resource: Object.entries(named), scope: {name: scope, version}}
}
