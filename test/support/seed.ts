import {mkdtempSync} from 'node:fs'
import {join} from 'node:path'
import fc from 'fast-check'
import {inject} from 'vitest'
import {seed} from './ring.ts'

/**
 * Property tests draw the same values in every run, so that one that fails can be repeated; `TEST_SEED` has them draw
 * others.
 */
fc.configureGlobal({seed: seed()})

/** Gateways that tests start are found by no command but their own test's: their notes lie where nobody looks. */
const notes = mkdtempSync(join(inject('run_folder'), 'notes-'))
Object.assign(process.env, {XDG_RUNTIME_DIR: notes, XDG_STATE_HOME: notes})
