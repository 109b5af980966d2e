import {identity} from './0001_identity.ts'
import {catalog} from './0002_catalog.ts'
import {traffic} from './0003_traffic.ts'
import {counters} from './0004_counters.ts'
import {cache} from './0005_cache.ts'
import type {Migration} from './support.ts'

export type {Kind, Migration} from './support.ts'

/** In order. A bundle has no folder to scan, so the list is written here. */
export const MIGRATIONS: readonly Migration[] = [identity, catalog, traffic, counters, cache]
