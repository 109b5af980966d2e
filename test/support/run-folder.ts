import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {TestProject} from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * A folder of this run of the tests. It is removed at the end: processes of tests are killed, and remove nothing
     * themselves.
     */
    run_folder: string
  }
}

export default function makeRunFolder(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-run-'))
  project.provide('run_folder', folder)
  return () => rmSync(folder, {recursive: true, force: true})
}
