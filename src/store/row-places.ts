import {parsedObject} from '../base/json-object.ts'
import type {Seal} from '../base/seal.ts'

/** The place that a row above an integration sets: a provider's `model_config`, a model's `configurations`. */
export interface PlaceRow {
  readonly table: 'providers' | 'integration_models'
  /** Of a provider its id, of a model `INTEGRATION/SLUG`. */
  readonly row: string
  readonly organisation_id: string
}

/** Seals it, as it is; null where it says nothing. */
export function sealPlace(seal: Seal, of: PlaceRow, placed: Readonly<Record<string, unknown>>): Uint8Array | null {
  return Object.keys(placed).length === 0 ? null : seal.close(JSON.stringify(placed), {...of, column: columnOf(of)})
}

/** The same, opened: for the moment of a call or a change, never to be shown. */
export function openPlace(seal: Seal, of: PlaceRow, sealed: Uint8Array | null): Readonly<Record<string, unknown>> {
  return sealed === null ? {} : (parsedObject(seal.open(sealed, {...of, column: columnOf(of)})) ?? {})
}

function columnOf({table}: PlaceRow): string {
  return table === 'providers' ? 'model_config_sealed' : 'configurations_sealed'
}
