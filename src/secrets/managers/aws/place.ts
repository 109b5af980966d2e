import {SECRET_ARN} from '../../../schema/secret-references.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerServices} from '../../services.ts'
import {type SecretPlace, textOf} from '../reading.ts'

/** Partitions whose endpoints are below another domain. */
const DOMAINS: Readonly<Record<string, string>> = {'aws-cn': 'amazonaws.com.cn'}
const REGION = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The place of a secret of AWS. */
export interface AwsPlace {
  readonly region: string
  /** Below which its endpoints are. */
  readonly domain: string
  readonly host: string
}

/** By the ARN, else the login's region, else the machine's. */
export function awsPlace(
  {path, login}: SecretPlace,
  {aws_region, aws_domain}: Pick<ManagerServices, 'aws_region' | 'aws_domain'>,
): AwsPlace {
  const [, partition, of_arn] = SECRET_ARN.exec(path) ?? []
  const region = of_arn ?? textOf(login, 'aws_region') ?? aws_region
  if (region === null) throw new ManagerFault('unusable', 'AWS Secrets Manager: no region is named (aws_region)')
  if (!REGION.test(region)) throw new ManagerFault('unusable', 'AWS Secrets Manager: aws_region is no region')
  const domain = partition === undefined ? ofRegion(region, aws_domain) : (DOMAINS[partition] ?? aws_domain)
  return {region, domain, host: `secretsmanager.${region}.${domain}`}
}

function ofRegion(region: string, aws_domain: string): string {
  return region.startsWith('cn-') && aws_domain === 'amazonaws.com' ? DOMAINS['aws-cn']! : aws_domain
}

/** A name that ends like the end of an ARN is taken for part of one, and the secret may not be found. */
export function looksCut(path: string): boolean {
  return !path.startsWith('arn:') && /-[A-Za-z0-9]{6}$/.test(path)
}
