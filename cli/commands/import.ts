import {basename, join} from 'node:path'
import {type Command, Option} from 'commander'
import type {Environment} from '../environment.ts'
import {usageFault} from '../fault.ts'
import type {Imported} from '../importers/imported.ts'
import {leaf} from '../options.ts'
import {openSession} from '../session.ts'
import {structuredFrom} from '../structured.ts'

interface ImportOptions {
  readonly from: 'litellm' | 'portkey' | 'one-api'
  readonly dir: string
  readonly workspace: string
  readonly secretsFile?: string
}

/** `gateway import`: another gateway's configuration as files of this one. */
export function importCommand(): Command {
  return leaf(
    'import',
    'Turn the configuration of another gateway into YAML files for gateway apply; what is lost is said',
    [
      'gateway import litellm.yaml --from litellm --dir resources',
      'gateway import one-api.db --from one-api --dir resources --secrets-file one-api.env',
    ],
  )
    .argument(
      '<file>',
      'a config.yaml of LiteLLM, configs of Portkey as JSON, the SQLite database of one-api or its lists as JSON',
    )
    .addOption(
      new Option('--from <gateway>', 'whose it is').choices(['litellm', 'portkey', 'one-api']).makeOptionMandatory(),
    )
    .option('--dir <folder>', 'folder to write the files to', 'resources')
    .option('-w, --workspace <slug>', 'workspace that it is for', 'default')
    .option('--secrets-file <file>', 'new file for the secrets in it, as NAME=value lines (default: they are left out)')
    .action(async (file: string, options: ImportOptions, self: Command) => {
      const {world, print} = await openSession(self)
      const [{written}, {pathOf, textIf}] = await Promise.all([
        import('../resources/document.ts'),
        import('../resources/folder.ts'),
      ])
      const {resources, losses, secrets} = await importedFrom(world, file, options)
      const files = resources.map(resource => ({path: join(options.dir, pathOf(resource)), text: written(resource)}))
      const there = files.find(({path, text}) => (textIf(world, path) ?? text) !== text)
      if (there)
        throw usageFault(
          `${there.path} is there already and says something else. Nothing was written.`,
          'Take it away, or name another --dir.',
        )
      if (options.secretsFile !== undefined) {
        const lines = [...secrets].map(([name, value]) => `${name}=${value}\n`).join('')
        if (textIf(world, options.secretsFile) !== undefined)
          throw usageFault(`${options.secretsFile} is there already and is left as it is.`)
        world.writeNewFile(options.secretsFile, lines, true)
      } else if (secrets.size)
        print.note(
          `${secrets.size} secrets are left out: --secrets-file writes them. Files refer to them: ${[...secrets.keys()].join(', ')}.`,
        )
      for (const {path, text} of files) world.replaceFile(path, text)
      if (!print.json && !print.quiet) for (const loss of losses) print.line(`lost: ${loss}`)
      print.done(
        {files: files.map(({path}) => path), losses, secrets: [...secrets.keys()]},
        `${files.length} resources in ${options.dir}, ${losses.length} things not carried over. Look at them, then: gateway apply -f ${options.dir} --dry-run`,
      )
    })
}

async function importedFrom(world: Environment, file: string, {from, workspace}: ImportOptions): Promise<Imported> {
  if (from === 'litellm')
    return (await import('../importers/litellm.ts')).fromLitellm(
      await structuredFrom(world, file, 'The file'),
      workspace,
    )
  if (from === 'portkey') {
    const name = basename(file).replace(/\.[^.]*$/, '')
    return (await import('../importers/portkey.ts')).fromPortkey(
      await structuredFrom(world, file, 'The file'),
      workspace,
      name,
    )
  }
  const {fromOneApi} = await import('../importers/one-api.ts')
  if (/\.(json|ya?ml)$/.test(file) || file === '-')
    return fromOneApi(await structuredFrom(world, file, 'The file'), workspace)
  const {foreignTables} = await import('../../src/store/import-source.ts')
  try {
    return fromOneApi(foreignTables(file, ['channels', 'tokens', 'users', 'redemptions', 'options']), workspace)
  } catch (cause) {
    const code = String((cause as {code?: unknown}).code ?? '')
    if (!code.startsWith('SQLITE')) throw cause
    throw usageFault(`${file} cannot be read as a SQLite database (${code}).`)
  }
}
