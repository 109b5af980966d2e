import {join} from 'node:path'
import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {leaf} from '../options.ts'
import {progressOn} from '../progress.ts'

interface ExportOptions {
  readonly dir: string
  readonly kind?: readonly string[]
}

/** `gateway export`: what the gateway has, as files. */
export function exportCommand(): Command {
  return leaf('export', 'Write what the gateway has as YAML files, one a resource, without secrets', [
    'gateway export --dir resources',
    'gateway export --dir resources --kind configs guardrails',
  ])
    .option('--dir <folder>', 'folder to write them to', 'resources')
    .option('--kind <kind...>', 'only these kinds')
    .action((options: ExportOptions, self: Command) => withGateway(self, gateway => writeAll(gateway, options)))
}

async function writeAll(
  gateway: Parameters<Parameters<typeof withGateway>[1]>[0],
  {dir, kind}: ExportOptions,
): Promise<void> {
  const [{snapshot}, {KINDS}, {kindsNamed}, {written}, {exportedFiles}] = await Promise.all([
    import('../resources/snapshot.ts'),
    import('../resources/kinds.ts'),
    import('../resources/plan.ts'),
    import('../resources/document.ts'),
    import('../resources/exported.ts'),
  ])
  const {world, print} = gateway
  const kinds = kind ? kindsNamed(kind) : new Set(KINDS.map(({name}) => name))
  const progress = progressOn(world, print)
  const now = await snapshot(gateway, kinds, (folder, at, of) => progress.step(at, of, folder)).finally(() =>
    progress.end(),
  )
  const {files, stale} = exportedFiles(world, dir, now, kinds)
  let changed = 0
  for (const {path, resource, before} of files) {
    const text = written(resource)
    if (text === before) continue
    world.replaceFile(join(dir, path), text)
    changed++
  }
  for (const path of stale) world.removeFile(join(dir, path))
  for (const name of now.closed)
    if (kinds.has(name)) print.note(`${name}: left out, as this key may not read all of it.`)
  for (const name of now.doubled) print.note(`${name}: left out, as there are several of this name.`)
  const reply = {files: files.map(({path}) => path), written: changed, removed: stale}
  if (print.quiet && !print.json) for (const {path} of files) print.line(join(dir, path))
  print.done(reply, `${files.length} resources in ${dir}: ${changed} files written, ${stale.length} removed.`)
}
