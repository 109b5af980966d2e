import {CommandFault} from '../../fault.ts'
import type {ApplyTarget} from '../kind.ts'

interface PromptPlace {
  readonly id: string
  readonly workspace: string | null
}

/** Label → number of the version that bears it. A version tells one of its labels alone: each is requested. */
export async function labelsOf(
  {gateway, slugsOf}: ApplyTarget,
  id: string,
  workspace: string | null,
  rows: readonly {readonly label_id: string | null}[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  if (!rows.some(({label_id}) => label_id !== null)) return found
  for (const version of slugsOf('label', [workspace, null])) {
    try {
      const {prompt_version} = await gateway.call('prompts.get', {params: {promptId: id}, query: {version}})
      found.set(version, prompt_version)
    } catch (fault) {
      if (!(fault instanceof CommandFault) || fault.status !== 404) throw fault
    }
  }
  return found
}

/** Brings labels from the versions that bear them, by id, to those that should. */
export async function assignLabels(
  {gateway, idOf}: ApplyTarget,
  {id, workspace}: PromptPlace,
  borne: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
): Promise<void> {
  const write = (versionId: string, label_id: string | null) =>
    gateway.call('prompts.update_version', {params: {promptId: id, versionId}, body: {label_id}})
  const bared = new Set([...borne].filter(([label]) => !wanted.has(label)).map(([, version]) => version))
  for (const version of bared) await write(version, null)
  for (const [label, version] of wanted) {
    if (borne.get(label) === version && !bared.has(version)) continue
    const label_id = [workspace, null]
      .map(of => idOf({kind: 'label', workspace: of, slug: label}))
      .find(each => each !== undefined)
    await write(version, label_id ?? label)
  }
}
