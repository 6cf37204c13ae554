'use client';

import { Menu as BaseMenu } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import type { FocusEvent, ReactElement, ReactNode } from 'react';
import { classNames } from '#components/ui/class-names';
import { itemStyle, popupStyle } from '#components/ui/popup-style';

interface MenuProps {
  /** The button that opens it; the caller labels it. */
  trigger: ReactElement;
  children: ReactNode;
  side?: 'top' | 'bottom';
  align?: 'start' | 'end';
  className?: string;
  /** Whether it is open when it first appears. */
  startOpen?: boolean;
}

export function Menu({
  trigger,
  children,
  side = 'bottom',
  align = 'end',
  className,
  startOpen = false,
}: MenuProps) {
  return (
    <BaseMenu.Root defaultOpen={startOpen}>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Backdrop className="fixed inset-0 z-50 bg-black/45 sm:hidden" />
        <BaseMenu.Positioner
          side={side}
          align={align}
          sideOffset={6}
          className="z-50 outline-none max-sm:fixed! max-sm:inset-x-0! max-sm:top-auto! max-sm:bottom-0! max-sm:w-full! max-sm:transform-none!"
        >
          <BaseMenu.Popup
            className={classNames(popupStyle, 'menu-sheet', className)}
            {...(startOpen ? { onFocus: goToFirst } : {})}
          >
            {children}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

/**
 * A menu that a key opens has the focus on its first item. One that appears open does not know what opened it, and takes
 * the focus itself.
 */
function goToFirst({ target, currentTarget }: FocusEvent<HTMLElement>) {
  if (target !== currentTarget || !currentTarget.matches(':focus-visible')) return;
  // The menu first notes that it has the focus itself.
  requestAnimationFrame(() => currentTarget.querySelector<HTMLElement>('[role^="menuitem"]')?.focus());
}

interface MenuItemProps {
  children: ReactNode;
  onSelect?: () => void;
  /** Renders the item as a link: pass the anchor element. */
  link?: ReactElement;
  danger?: boolean;
  disabled?: boolean;
}

export function MenuItem({ children, onSelect, link, danger, disabled }: MenuItemProps) {
  const className = classNames(itemStyle, danger && 'text-bad [&_svg]:text-bad');
  if (link) {
    return (
      <BaseMenu.LinkItem className={className} render={link} closeOnClick>
        {children}
      </BaseMenu.LinkItem>
    );
  }
  return (
    <BaseMenu.Item
      className={className}
      disabled={disabled ?? false}
      {...(onSelect ? { onClick: onSelect } : {})}
    >
      {children}
    </BaseMenu.Item>
  );
}

interface MenuCheckProps {
  children: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange?(checked: boolean): void;
}

/** A menu item with a checkbox; the menu stays open. */
export function MenuCheck({ children, checked, disabled = false, onChange }: MenuCheckProps) {
  return (
    <BaseMenu.CheckboxItem
      className={itemStyle}
      checked={checked}
      disabled={disabled}
      closeOnClick={false}
      {...(onChange ? { onCheckedChange: (next: boolean) => onChange(next) } : {})}
    >
      <span className="flex-1">{children}</span>
      <BaseMenu.CheckboxItemIndicator>
        <Check />
      </BaseMenu.CheckboxItemIndicator>
    </BaseMenu.CheckboxItem>
  );
}

interface MenuChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string; icon?: ReactNode }[];
  onChange(value: Value): void;
}

/** A group of menu items with exactly one selected. */
export function MenuChoice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: MenuChoiceProps<Value>) {
  return (
    <BaseMenu.Group>
      <BaseMenu.GroupLabel className="px-2 pt-1.5 pb-1 text-muted text-xs">{label}</BaseMenu.GroupLabel>
      <BaseMenu.RadioGroup value={value} onValueChange={onChange}>
        {options.map((option) => (
          <BaseMenu.RadioItem key={option.value} value={option.value} closeOnClick className={itemStyle}>
            {option.icon}
            <span className="flex-1">{option.label}</span>
            <BaseMenu.RadioItemIndicator>
              <Check />
            </BaseMenu.RadioItemIndicator>
          </BaseMenu.RadioItem>
        ))}
      </BaseMenu.RadioGroup>
    </BaseMenu.Group>
  );
}

export function MenuSeparator() {
  return <BaseMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}
