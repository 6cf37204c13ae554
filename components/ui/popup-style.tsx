/** Styles of all menus and lists that pop up beside a button or field. */
export const popupStyle =
  'z-50 max-h-(--available-height) min-w-44 origin-(--transform-origin) overflow-y-auto rounded-lg border border-line bg-surface p-1 text-sm shadow-pop outline-none transition-[opacity,scale] duration-100 data-[ending-style]:scale-98 data-[ending-style]:opacity-0 data-[starting-style]:scale-98 data-[starting-style]:opacity-0';

export const itemStyle =
  'flex select-none items-center gap-2 rounded-md px-2 py-1.5 text-ink outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted';
