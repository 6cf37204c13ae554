import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { catalogueYaml } from '#lib/control/catalogue/export';
import { exportCatalogueOperation } from '#lib/control/operations/catalogue/export';

/** The catalogue in force as a file (contract: operations/catalogue-export). */
export async function GET() {
  const read = await readForRoute(await findRouteActor(), exportCatalogueOperation, '', {});
  if ('refused' in read) return read.refused;
  return new Response(catalogueYaml(read.value), {
    headers: {
      'content-type': 'application/yaml; charset=utf-8',
      'content-disposition': 'attachment; filename="catalogue.yaml"',
      'cache-control': 'private, no-store',
    },
  });
}
